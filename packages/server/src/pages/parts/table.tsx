import type { Child, FC } from 'hono/jsx'

export interface TableProps {
  /** For screen readers. */
  readonly caption: string
  readonly columns: readonly string[]
  /** As many cells each as there are columns. */
  readonly rows: ReadonlyArray<readonly Child[]>
}

/**
 * On a phone every row becomes a card with the column's name beside each value. The roles are written
 * out because browsers forget that it is a table once its cells are laid out in another way.
 */
export const Table: FC<TableProps> = ({ caption, columns, rows }) => (
  // biome-ignore-start lint/a11y/noRedundantRoles: not redundant once the style changes the layout
  <table role="table">
    <caption class="unseen">{caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map((title) => (
          <th role="columnheader" scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map((cells) => (
        <tr role="row">
          {cells.map((cell, index) => (
            <td role="cell" data-label={columns[index]}>
              <div>{cell}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
  // biome-ignore-end lint/a11y/noRedundantRoles: as above
)

/** Instead of an empty table: what this is for and what to do. */
export const Empty: FC<{ title: string; children?: Child }> = ({ title, children }) => (
  <div class="empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </div>
)

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A day as people write it, and the whole instant for programs. */
export const Day: FC<{ at: Date }> = ({ at }) => (
  <time datetime={at.toISOString()}>{DATE.format(at)}</time>
)

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** The same with its time, which is in UTC for want of a better one. */
export const Moment: FC<{ at: Date }> = ({ at }) => (
  <time datetime={at.toISOString()}>{MOMENT.format(at)} UTC</time>
)

/** A long address is broken where its parts end, not in the middle of a word. */
export const Address: FC<{ url: string }> = ({ url }) => (
  <>
    {url.split(/(?<=[/?&=#.:-])(?![/])/).map((part) => (
      <>
        {part}
        <wbr />
      </>
    ))}
  </>
)
