import { type Html, html } from '../core/html.ts'

/** Heading → what a row has to say under it. */
type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>

/** A heading and the rows below it, or that there are none. */
export function table<Row>(title: string, rows: readonly Row[], columns: Columns<Row>): Html {
  if (rows.length === 0) return html`<h2>${title}</h2><p>None yet.</p>`
  const cells = Object.values(columns)
  return html`<h2>${title}</h2><div class="scroll"><table>
  <thead><tr>${Object.keys(columns).map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr>${cells.map((cell) => html`<td>${cell(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`
}

/** `2026-01-31 10:00:00` of Stripe's seconds; nothing for nothing. */
export function moment(seconds: unknown): string {
  if (typeof seconds !== 'number') return ''
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}
