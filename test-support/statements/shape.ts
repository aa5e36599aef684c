/**
 * Normalizes a statement: the result does not depend on the length of a list or on the number of
 * inserted rows.
 */
export function normalizeStatement(sql: string): string {
  return sql
    .replace(/\$\d+/g, '?')
    .replace(/\bvalues (\(.*?\))(?:, \1)+/i, 'values $1')
    .replace(/ in \((?:\?, )*\?\)/gi, ' in (?…)')
}
