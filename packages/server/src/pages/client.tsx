import type { Client } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { ClientButtons, EditClient } from './clients.tsx'
import { ConfirmDialog, Copyable, NeedsScript, SecretDialog } from './parts/dialogs.tsx'
import { getSignedInUser, requireUser } from './parts/forms.ts'
import { Heading, usePage } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { BreakableUrl, Day, Fact, ScopeList } from './parts/table.tsx'

/** Adds the page about one client that the signed-in person registered. */
export function addOwnClientPage(app: Hono<AppEnv>): void {
  app.get('/clients/:id', requireUser(), async (c) => {
    const { service, t } = c.get('page')
    const { clients } = service.oauth
    const own = await clients.listByUser(getSignedInUser(c).id)
    // Another person's client looks like one that does not exist.
    const client = own.find(({ id }) => id === c.req.param('id'))
    if (!client) return c.notFound()
    const lastUsed = (await clients.lastUsed([client.id])).get(client.id) ?? null
    return renderPage(
      c,
      { title: client.name },
      <>
        <Heading title={<bdi>{client.name}</bdi>} lead={t('client.lead')} />
        <NeedsScript>
          {t.parts('clients.needsScript', { command: <code>tollgate client create</code> })}
        </NeedsScript>
        <section class="card stack" id="client" aria-label={client.name} data-live>
          <ClientSummary client={client} lastUsed={lastUsed} />
          <span class="actions" data-scripted hidden>
            <ClientButtons client={client} />
          </span>
        </section>
        <p class="aside">
          <a href="/clients">{t('client.back')}</a>
        </p>
        <EditClient />
        <SecretDialog title={t('clients.secretTitle')}>{t('clients.secretText')}</SecretDialog>
        <ConfirmDialog />
      </>,
    )
  })
}

const ClientSummary: FC<{ client: Client; lastUsed: Date | null }> = ({ client, lastUsed }) => {
  const { service, t } = usePage()
  const { id, name, scopes } = client
  return (
    <dl class="facts">
      <Fact term={t('clients.id')}>
        <Copyable id="client-id" value={id} what={t('clients.idOf', { name })} />
      </Fact>
      <Fact term={t('client.type')}>
        {t(client.confidential ? 'clients.confidential' : 'clients.public')}
      </Fact>
      <Fact term={t('clients.redirects')}>
        <ul class="plain addresses">
          {client.redirectUris.map((uri) => (
            <li>
              <BreakableUrl url={uri} />
            </li>
          ))}
        </ul>
      </Fact>
      <Fact term={t('client.scopes')}>
        {scopes === null ? (
          t('client.allScopes')
        ) : (
          <ScopeList names={scopes} scopes={service.config.settings.scopes} />
        )}
      </Fact>
      <Fact term={t('tokens.created')}>
        <Day at={client.createdAt} />
      </Fact>
      <Fact term={t('client.changed')}>
        <Day at={client.updatedAt} />
      </Fact>
      <Fact term={t('client.lastUsed')}>
        {lastUsed === null ? t('client.neverUsed') : <Day at={lastUsed} />}
      </Fact>
    </dl>
  )
}
