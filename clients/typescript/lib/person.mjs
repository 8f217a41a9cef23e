import { check } from './check.mjs';
import { fill } from './form.mjs';

/** Fills in the order form with the answers that an exercise prepared, one for each question. */
export class Person {
  asked = 0;
  answers = [];

  answer(form) {
    this.asked += 1;
    check(form.message.length > 0, 'a form with a message', form);
    check(this.answers.length > 0, 'no further question', form);
    return fill(form.requestedSchema, this.answers.shift());
  }
}
