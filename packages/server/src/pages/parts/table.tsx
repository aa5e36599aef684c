import type { Child, FC } from 'hono/jsx'
import { usePage } from './layout.tsx'

export interface TableProps {
  /** Caption for screen readers. */
  readonly caption: string
  readonly columns: readonly string[]
  /** The rows, each with one cell per column. */
  readonly rows: ReadonlyArray<readonly Child[]>
}

/**
 * A table, which becomes a list of cards on a phone, with the column's name beside each value. It
 * has explicit ARIA roles, because browsers drop the table semantics when CSS changes the layout.
 */
export const Table: FC<TableProps> = ({ caption, columns, rows }) => {
  const actions = usePage().t('table.actions')
  return (
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
              <td
                role="cell"
                data-label={columns[index]}
                class={columns[index] === actions ? 'row-actions' : undefined}
              >
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above
  )
}

/** Text in place of an empty table, which explains what the table is for and what to do next. */
export const Empty: FC<{ title: string; children?: Child }> = ({ title, children }) => (
  <div class="empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </div>
)

/** A date in the page's language, as a `<time>` element with the exact time. */
export const Day: FC<{ at: Date }> = ({ at }) => (
  <time datetime={at.toISOString()}>
    {new Intl.DateTimeFormat(usePage().t.locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(
      at,
    )}
  </time>
)

/** A date and time in UTC, because the person's time zone is unknown. */
export const Moment: FC<{ at: Date }> = ({ at }) => {
  const { t } = usePage()
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const moment = new Intl.DateTimeFormat(t.locale, style).format(at)
  return <time datetime={at.toISOString()}>{t('table.momentUtc', { moment })}</time>
}

/** A long URL that breaks only between its parts. */
export const BreakableUrl: FC<{ url: string }> = ({ url }) => (
  <>
    {url.split(/(?<=[/?&=#.:-])(?![/])/).map((part) => (
      <>
        {part}
        <wbr />
      </>
    ))}
  </>
)

/** A term and its description in a `<dl class="facts">`. */
export const Fact: FC<{ term: string; children?: Child }> = ({ term, children }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
)

/** Descriptions of scopes by name. */
export type ScopeDescriptions = Readonly<Record<string, string>>

/** The descriptions of scopes. A scope that is no longer defined is shown by its name. */
export const ScopeList: FC<{ names: readonly string[]; scopes: ScopeDescriptions }> = ({
  names,
  scopes,
}) =>
  names.length === 0 ? (
    <span class="quiet-text">{usePage().t('scopes.identity')}</span>
  ) : (
    <ul class="plain">
      {names.map((name) => (
        <li>{describeScope(name, scopes)}</li>
      ))}
    </ul>
  )

function describeScope(name: string, scopes: ScopeDescriptions): string {
  return (Object.hasOwn(scopes, name) ? scopes[name] : undefined) ?? name
}
