/** A statement without what differs from call to call: however long a list is, and however many rows are inserted, it is the same. */
export function shapeOf(sql: string): string {
  return sql
    .replace(/\$\d+/g, '?')
    .replace(/\bvalues (\(.*?\))(?:, \1)+/i, 'values $1')
    .replace(/ in \((?:\?, )*\?\)/gi, ' in (?…)')
}
