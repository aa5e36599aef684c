/**
 * Formats a table with columns as wide as their content, the first one aligned left, the others
 * right.
 * @param {string[]} header
 * @param {string[][]} body
 */
export function formatTable(header, body) {
  const widths = header.map((title, at) =>
    Math.max(title.length, ...body.map((cells) => cells[at].length)),
  )
  const line = (cells) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(header), rule, ...body.map(line)].join('\n')
}
