// What a browser does for a program on this machine: signs in, consents, and goes where it is sent. Needs no packages.
//
// Usage: node browser.mjs AUTHORIZATION_URL NAME PASSWORD

import { check, checkEqual, main } from './lib/check.mjs';
import { PersonAtBrowser } from './lib/person-at-browser.mjs';

await main(async ([authorizationUrl, name, password, ...more]) => {
  check(password !== undefined && more.length === 0, 'AUTHORIZATION_URL NAME PASSWORD', more.length);
  const person = new PersonAtBrowser(name, password);
  const answer = await fetch(await person.visit(authorizationUrl), { redirect: 'manual' });
  checkEqual(answer.status, 200, 'the status of the page of the program');
  return { pages: person.titles, consent: person.consent };
});
