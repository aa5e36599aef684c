import { type Html, type HtmlValue, html } from '@tollgate/http'

/** Functions that render a row's cell, by column heading. */
type Columns<Row> = Readonly<Record<string, (row: Row) => HtmlValue>>

/**
 * Renders a table. On narrow screens each row becomes a card with the heading beside each value.
 * The ARIA roles are explicit because browsers drop the table semantics once the cells are not
 * displayed as a table.
 */
export function renderTable<Row>(
  caption: string,
  rows: readonly Row[],
  columns: Columns<Row>,
): Html {
  const headings = Object.keys(columns)
  const cells = Object.entries(columns)
  return html`<table role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row">${cells.map(([heading, cell]) => html`<td role="cell" data-label="${heading}"><div>${cell(row)}</div></td>`)}</tr>`,
  )}</tbody></table>`
}
