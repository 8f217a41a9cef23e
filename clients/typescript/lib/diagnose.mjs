// What most of the similar closed tickets agree on.

import { check } from './check.mjs';

export function diagnose(tickets) {
  check(tickets.length > 0, 'closed tickets with a similar symptom', tickets);
  const faultCode = mostCommon(tickets.map((ticket) => ticket.fault_code));
  const same = tickets.filter((ticket) => ticket.fault_code === faultCode);
  return {
    faultCode,
    partNo: mostCommon(same.map((ticket) => ticket.part_no)),
    category: mostCommon(same.map((ticket) => ticket.part_category)),
    sources: same.map((ticket) => ticket.ticket_id),
  };
}

/** The most frequent value; of equals the one that comes first. */
function mostCommon(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
