import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { Heading, usePage } from '../../parts/layout.tsx'
import { Day, Empty, Table } from '../../parts/table.tsx'
import { getOperator, mayCall, Pager, renderAdmin, requireRole, runOperation } from '../parts.tsx'
import { SearchForm } from '../search-form.tsx'
import {
  APPLICATIONS_PATH,
  type ClientJson,
  describeGrant,
  isManagement,
  pathOf,
} from './client.ts'

interface ClientPage {
  readonly data: readonly ClientJson[]
  readonly next: string | null
}

/** Adds the list of applications. */
export function addClientListPage(app: Hono<AppEnv>): void {
  app.get(APPLICATIONS_PATH, requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const operator = getOperator(c)
    const search = c.req.query('search')?.trim() ?? ''
    const after = c.req.query('after')
    const { data, next } = await runOperation<ClientPage>(c, 'clients.list', {
      ...(search !== '' && { search }),
      ...(after !== undefined && { after }),
    })
    return renderAdmin(
      c,
      {
        title: t('admin.clients'),
        ...(c.req.query('done') === 'deleted' && { notice: t('adminClients.wasDeleted') }),
      },
      <>
        <Heading title={t('admin.clients')} lead={t('adminClients.lead')}>
          <div class="actions">
            {mayCall(operator, 'clients.createForManagement') && (
              <a class="button" href={`${APPLICATIONS_PATH}/new-management`}>
                {t('adminClients.newManagement')}
              </a>
            )}
            {mayCall(operator, 'clients.create') && (
              <a class="button primary" href={`${APPLICATIONS_PATH}/new`}>
                {t('adminClients.new')}
              </a>
            )}
          </div>
        </Heading>
        <section class="card stack" aria-label={t('admin.clients')}>
          <SearchForm
            action={APPLICATIONS_PATH}
            label={t('adminClients.searchLabel')}
            value={search}
          />
          {data.length === 0 ? (
            <NoClients isSearch={search !== ''} hasNext={next !== null} />
          ) : (
            <ClientTable clients={data} />
          )}
          <Pager c={c} next={next} />
        </section>
      </>,
    )
  })
}

const NoClients: FC<{ isSearch: boolean; hasNext: boolean }> = ({ isSearch, hasNext }) => {
  const { t } = usePage()
  if (hasNext) return <p>{t('adminClients.searchGoesOn')}</p>
  return (
    <Empty title={t('adminClients.empty')}>
      {t(isSearch ? 'adminClients.emptySearch' : 'adminClients.emptyText')}
    </Empty>
  )
}

const ClientTable: FC<{ clients: readonly ClientJson[] }> = ({ clients }) => {
  const { t } = usePage()
  const showsUse = clients.some(({ last_used_at: used }) => used !== undefined)
  return (
    <Table
      caption={t('admin.clients')}
      columns={[
        t('adminClients.name'),
        t('adminClients.grants'),
        t('adminClients.origin'),
        t('adminClients.verified'),
        ...(showsUse ? [t('adminClients.lastUsed')] : []),
      ]}
      rows={clients.map((client) => [
        <>
          <a href={pathOf(client)}>
            <bdi>{client.name}</bdi>
          </a>{' '}
          <ClientBadge client={client} />
        </>,
        <ul class="plain grants">
          {client.grants.map((type) => (
            <li>{describeGrant(type, t).title}</li>
          ))}
        </ul>,
        t(`adminClients.origin.${client.registered_by}`),
        t(client.verified ? 'admin.yes' : 'admin.no'),
        ...(showsUse ? [<LastUsed client={client} />] : []),
      ])}
    />
  )
}

/** The most important fact about a client, if there is one. */
export const ClientBadge: FC<{ client: ClientJson }> = ({ client }) => {
  const { t, service } = usePage()
  if (client.revoked_at !== null) return <span class="badge bad">{t('adminClients.deleted')}</span>
  if (!isManagement(client, service)) return null
  return <span class="badge warning">{t('adminClients.management')}</span>
}

/** The day on which a client last got a token. */
export const LastUsed: FC<{ client: ClientJson }> = ({ client: { last_used_at: used } }) =>
  used ? <Day at={new Date(used)} /> : <span>{usePage().t('adminClients.neverUsed')}</span>
