import { type Html, html } from '../../core/html.ts'

/** Heading → what a row has to say under it. */
type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>

/**
 * On a phone every row becomes a card with the column's name beside each value. The roles are written
 * out because browsers forget that it is a table once its cells are laid out in another way.
 */
export function table<Row>(caption: string, rows: readonly Row[], columns: Columns<Row>): Html {
  const headings = Object.keys(columns)
  const cells = Object.entries(columns)
  return html`<table role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row">${cells.map(([heading, cell]) => html`<td role="cell" data-label="${heading}"><div>${cell(row)}</div></td>`)}</tr>`,
  )}</tbody></table>`
}
