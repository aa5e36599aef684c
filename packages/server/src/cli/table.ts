const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Formats a text for a terminal of this width in characters. `null` if there is no limit. */
export type FitText = (columns: number | null) => string

/**
 * Formats a list as a table with a line of headers, for people. `none` replaces an empty list. If
 * the table is wider than the terminal, each row becomes a block of lines, because ids that are cut
 * off cannot be copied.
 */
export function formatTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): FitText {
  return (columns) => {
    if (rows.length === 0) return none
    const table = alignColumns(headers, rows)
    const isWide = table.split('\n').some((line) => columns !== null && [...line].length > columns)
    return isWide ? rows.map((row) => formatRow(headers, row)).join('\n\n') : table
  }
}

function formatRow(headers: readonly string[], row: readonly string[]): string {
  const given = headers.map((header, at) => [header, row[at] ?? ''] as const)
  return formatFields(Object.fromEntries(given.filter(([, value]) => value !== '')))
}

function alignColumns(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  // Names come from strangers, and could contain the control sequences of a terminal.
  const lines = [headers, ...rows].map((row) =>
    row.map((cell) => cell.replace(UNPRINTABLE, '\ufffd')),
  )
  const widths = headers.map((_, at) =>
    lines.reduce((widest, row) => Math.max(widest, [...(row[at] ?? '')].length), 0),
  )
  return lines
    .map((row) =>
      row
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats the members of one object, one per line, for people. */
export function formatFields(fields: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(fields).map(({ length }) => length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value.replace(UNPRINTABLE, '\ufffd')}`)
    .join('\n')
}
