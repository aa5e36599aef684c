import type { Child, FC } from 'hono/jsx'
import type { TokenJson } from '../../../admin/operations/access.ts'
import { describeBrowserName } from '../../parts/browser-name.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Moment, ScopeList, Table } from '../../parts/table.tsx'
import type { PersonSectionProps } from './person-data.ts'
import { pathOf } from './person-path.ts'

/** The open sessions of a person. */
export const Sessions: FC<PersonSectionProps> = ({ data: { person, sessions }, can }) => {
  const { t } = usePage()
  return (
    <List
      id="sessions"
      title={t('people.sessions')}
      none={t('people.sessions.none')}
      columns={[t('sessions.where'), t('sessions.since'), t('sessions.lastSeen')]}
      rows={sessions.map(({ id, browser, address, started_at, seen_at }) => ({
        cells: [
          <>
            <strong>{describeBrowserName(browser, t)}</strong>
            {address !== null && <span class="quiet-text"> {address}</span>}
          </>,
          <Moment at={new Date(started_at)} />,
          <Moment at={new Date(seen_at)} />,
        ],
        href: `${pathOf(person.id)}/end-session?object=${encodeURIComponent(id)}`,
        label: t('sessions.end'),
        name: t('sessions.endOf', { browser: describeBrowserName(browser, t) }),
      }))}
      withActs={can('users.endSession')}
    />
  )
}

/** The applications that a person has approved. */
export const Applications: FC<PersonSectionProps> = ({ data: { person, applications }, can }) => {
  const { t, service } = usePage()
  return (
    <List
      id="applications"
      title={t('people.applications')}
      none={t('people.applications.none')}
      columns={[t('people.application'), t('people.scopes'), t('people.approved')]}
      rows={applications.map(({ client_id, name, scopes, approved_at }) => ({
        cells: [
          <bdi>{name}</bdi>,
          <ScopeList names={scopes} scopes={service.config.settings.scopes} />,
          <Moment at={new Date(approved_at)} />,
        ],
        href: `${pathOf(person.id)}/revoke-application?object=${encodeURIComponent(client_id)}`,
        label: t('people.revoke'),
        name: t('people.revokeOf', { name }),
      }))}
      withActs={can('users.revokeApplication')}
    />
  )
}

/** The valid tokens of a person. */
export const Tokens: FC<PersonSectionProps> = ({ data: { person, tokens, applications }, can }) => {
  const { t, service } = usePage()
  const nameOf = (clientId: string) =>
    applications.find(({ client_id }) => client_id === clientId)?.name ?? clientId
  return (
    <List
      id="tokens"
      title={t('people.tokens')}
      none={t('people.tokens.none')}
      columns={[
        t('people.token'),
        t('people.scopes'),
        t('people.issued'),
        t('people.expires'),
        t('tokens.lastUsed'),
      ]}
      rows={tokens.map((token) => {
        const { id, name, client_id, scopes, created_at, expires_at } = token
        const shown = name ?? nameOf(client_id)
        return {
          cells: [
            <bdi>{shown}</bdi>,
            <ScopeList names={scopes} scopes={service.config.settings.scopes} />,
            <Moment at={new Date(created_at)} />,
            <Moment at={new Date(expires_at)} />,
            <TokenUse token={token} />,
          ],
          href: `${pathOf(person.id)}/revoke-token?object=${encodeURIComponent(id)}`,
          label: t('people.revoke'),
          name: t('people.revokeOf', { name: shown }),
        }
      })}
      withActs={can('users.revokeToken')}
    />
  )
}

/** The day of the last use, which is recorded for personal access tokens only. */
const TokenUse: FC<{ token: TokenJson }> = ({ token: { grant_type, last_used_at } }) => {
  const { t } = usePage()
  if (last_used_at !== null) return <Day at={new Date(last_used_at)} />
  const isRecorded = grant_type === 'personal_access'
  return <span>{t(isRecorded ? 'tokens.neverUsed' : 'people.token.useUnknown')}</span>
}

/** The passkeys and the authenticator app of a person. */
export const Factors: FC<Pick<PersonSectionProps, 'data'>> = ({ data: { factors } }) => {
  const { t } = usePage()
  const { passkeys, app } = factors
  const rows = [
    ...passkeys.map((passkey) => ({ ...passkey, kind: t('factors.passkey.title') })),
    ...(app === null ? [] : [{ ...app, name: null, kind: t('factors.app.title') }]),
  ]
  if (rows.length === 0) return null
  return (
    <section class="card" aria-labelledby="factors-title">
      <h2 id="factors-title">{t('factors.title')}</h2>
      <Table
        caption={t('factors.title')}
        columns={[t('people.factor'), t('factors.added'), t('factors.lastUsed')]}
        rows={rows.map(({ kind, name, created_at, last_used_at }) => [
          <>
            <strong>{kind}</strong>
            {name !== null && (
              <span class="quiet-text">
                {' '}
                <bdi>{name}</bdi>
              </span>
            )}
          </>,
          <Moment at={new Date(created_at)} />,
          last_used_at === null ? t('factors.unused') : <Moment at={new Date(last_used_at)} />,
        ])}
      />
    </section>
  )
}

/** The accounts at other providers that a person signs in with. */
export const Links: FC<PersonSectionProps> = ({ data: { person, links }, can }) => {
  const { t, service } = usePage()
  if (links.length === 0 && service.upstream.providers.length === 0) return null
  const nameOf = (id: string) => service.upstream.find(id)?.name ?? id
  return (
    <List
      id="links"
      title={t('links.title')}
      none={t('links.none')}
      columns={[t('links.provider'), t('links.since'), t('links.used')]}
      rows={links.map(({ id, provider, email, created_at, used_at }) => ({
        cells: [
          <>
            <strong>{nameOf(provider)}</strong>
            {email !== null && (
              <span class="quiet-text">
                {' '}
                <bdi>{email}</bdi>
              </span>
            )}
          </>,
          <Moment at={new Date(created_at)} />,
          <Moment at={new Date(used_at)} />,
        ],
        href: `${pathOf(person.id)}/unlink?object=${encodeURIComponent(id)}`,
        label: t('links.remove'),
        name: t('links.removeOf', { provider: nameOf(provider) }),
      }))}
      withActs={can('users.unlink')}
    />
  )
}

interface ListProps {
  readonly id: string
  readonly title: string
  /** Shown instead of an empty table. */
  readonly none: string
  readonly columns: readonly string[]
  readonly rows: ReadonlyArray<{
    readonly cells: readonly Child[]
    /** URL of the page that confirms the action on the row. */
    readonly href: string
    readonly label: string
    /** Accessible name of the link to that page. */
    readonly name: string
  }>
  readonly withActs: boolean
}

const List: FC<ListProps> = ({ id, title, none, columns, rows, withActs }) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {rows.length === 0 ? (
        <p>{none}</p>
      ) : (
        <Table
          caption={title}
          columns={withActs ? [...columns, t('table.actions')] : columns}
          rows={rows.map(({ cells, href, label, name }) =>
            withActs
              ? [
                  ...cells,
                  <a class="button small danger-quiet" href={href} aria-label={name}>
                    {label}
                  </a>,
                ]
              : cells,
          )}
        />
      )}
    </section>
  )
}
