// Fills in a form: what the script wants to say where the form asks for it, else the first answer that the schema allows.

import { check } from './check.mjs';

export function fill(schema, wanted) {
  const content = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (name in wanted) {
      content[name] = wanted[name];
    } else if ((schema.required ?? []).includes(name)) {
      content[name] = answer(name, property);
    }
  }
  return { action: 'accept', content };
}

function answer(name, property) {
  if (property.default !== undefined) return property.default;
  const choices = property.enum ?? property.oneOf?.map((choice) => choice.const);
  if (choices) return choices[0];
  if (property.type === 'boolean') return true;
  if (property.type === 'integer' || property.type === 'number') return property.minimum ?? 0;
  check(property.type === 'string', `a form of plain fields, \`${name}\` included`, property);
  return 'noted';
}
