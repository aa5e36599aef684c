import type { Client } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import type { PageText } from '../messages/messages.ts'
import {
  ConfirmDialog,
  Copyable,
  Dialog,
  DialogButtons,
  FormProblem,
  NeedsScript,
  SecretDialog,
} from './parts/dialogs.tsx'
import { Choice, TextArea, TextField } from './parts/fields.tsx'
import { getSignedInUser, requireUser } from './parts/forms.ts'
import { Heading, usePage } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { BreakableUrl, Empty, Table } from './parts/table.tsx'

/** Adds the page on which users register OAuth clients. Its script uses the JSON API. */
export function addOwnClientsPage(app: Hono<AppEnv>): void {
  app.get('/clients', requireUser(), async (c) => {
    const { service, t } = c.get('page')
    const clients = await service.oauth.clients.listByUser(getSignedInUser(c).id)
    return renderPage(
      c,
      { title: t('places.clients') },
      <>
        <Heading title={t('places.clients')} lead={t('clients.lead')}>
          <button type="button" class="primary" data-scripted hidden data-open="new-client">
            {t('clients.new')}
          </button>
        </Heading>
        <NeedsScript>
          {t.parts('clients.needsScript', { command: <code>tollgate client create</code> })}
        </NeedsScript>
        <section class="card" id="list" aria-label={t('clients.yours')} data-live>
          {clients.length === 0 ? (
            <Empty title={t('clients.empty')}>{t('clients.emptyText')}</Empty>
          ) : (
            <Table
              caption={t('clients.yours')}
              columns={[
                t('tokens.name'),
                t('clients.id'),
                t('clients.redirects'),
                t('table.actions'),
              ]}
              rows={clients.map((client) => renderClientCells(client, t))}
            />
          )}
        </section>
        <NewClient implicit={service.config.settings.implicitGrant} />
        <EditClient />
        <SecretDialog title={t('clients.secretTitle')}>{t('clients.secretText')}</SecretDialog>
        <ConfirmDialog />
      </>,
    )
  })
}

function renderClientCells(client: Client, t: PageText) {
  const path = `/oauth/clients/${client.id}`
  const { confidential, name } = client
  return [
    <>
      <strong>
        <a href={`/clients/${client.id}`}>
          <bdi>{client.name}</bdi>
        </a>
      </strong>
      <span class="badge">{t(confidential ? 'clients.confidential' : 'clients.public')}</span>
    </>,
    <Copyable id={`id-${client.id}`} value={client.id} what={t('clients.idOf', { name })} />,
    <ul class="plain addresses">
      {client.redirectUris.map((uri) => (
        <li>
          <BreakableUrl url={uri} />
        </li>
      ))}
    </ul>,
    <span class="actions" data-scripted hidden>
      <ClientButtons client={client} />
      <button
        type="button"
        class="small danger-quiet"
        data-open="confirm"
        data-api={`DELETE ${path}`}
        data-title={t('clients.deleteQuestion')}
        data-text={t('clients.deleteText', { name })}
        data-action={t('dialog.delete')}
        data-done={t('clients.deleted')}
        aria-label={t('clients.deleteName', { name })}
      >
        {t('dialog.delete')}
      </button>
    </span>,
  ]
}

/** The buttons that change a client: its fields, and its secret if it has one. */
export const ClientButtons: FC<{ client: Client }> = ({ client }) => {
  const { t } = usePage()
  const path = `/oauth/clients/${client.id}`
  const { confidential, name } = client
  return (
    <>
      <button
        type="button"
        class="small"
        data-open="edit-client"
        data-api={`PUT ${path}`}
        data-values={JSON.stringify({
          name: client.name,
          redirect: client.redirectUris.join('\n'),
        })}
        aria-label={t('clients.editName', { name })}
      >
        {t('clients.edit')}
      </button>
      {confidential && (
        <button
          type="button"
          class="small"
          data-open="confirm"
          data-api={`POST ${path}/secret`}
          data-title={t('clients.newSecretQuestion')}
          data-text={t('clients.newSecretText', { name })}
          data-action={t('clients.newSecretGo')}
          aria-label={t('clients.newSecretFor', { name })}
        >
          {t('clients.newSecret')}
        </button>
      )}
    </>
  )
}

const NewClient: FC<{ implicit: boolean }> = ({ implicit }) => {
  const { t } = usePage()
  return (
    <Dialog id="new-client" title={t('clients.new')}>
      <form data-api="POST /oauth/clients" data-done={t('clients.created')} novalidate>
        <ClientFields prefix="new" />
        <fieldset>
          <legend>{t('clients.where')}</legend>
          <Choice
            id="new-confidential"
            type="radio"
            name="confidential"
            value="true"
            title={t('clients.server')}
            description={t('clients.serverText')}
            checked
          />
          <Choice
            id="new-public"
            type="radio"
            name="confidential"
            value="false"
            title={t('clients.browser')}
            description={t('clients.browserText')}
          />
        </fieldset>
        {implicit && (
          <fieldset>
            <legend>{t('clients.older')}</legend>
            <Choice
              id="new-implicit"
              type="checkbox"
              name="implicit"
              value="true"
              title={t('clients.implicit')}
              description={t('clients.implicitText')}
            />
          </fieldset>
        )}
        <FormProblem />
        <DialogButtons action={t('clients.create')} />
      </form>
    </Dialog>
  )
}

/** The dialog in which the name and the redirect URIs of a client are changed. */
export const EditClient: FC = () => {
  const { t } = usePage()
  return (
    <Dialog id="edit-client" title={t('clients.editTitle')}>
      <form data-done={t('clients.saved')} novalidate>
        <ClientFields prefix="edit" />
        <FormProblem />
        <DialogButtons action={t('clients.save')} />
      </form>
    </Dialog>
  )
}

const ClientFields: FC<{ prefix: string }> = ({ prefix }) => {
  const { t } = usePage()
  return (
    <>
      <TextField
        id={`${prefix}-name`}
        label={t('tokens.name')}
        hint={t('clients.nameHint')}
        input={{ name: 'name', maxlength: 191, autocomplete: 'off', required: true }}
      />
      <TextArea
        id={`${prefix}-redirect`}
        label={t('clients.redirectLabel')}
        hint={t('clients.redirectHint')}
        input={{
          name: 'redirect',
          rows: 2,
          required: true,
          spellcheck: 'false',
          placeholder: 'https://app.example.com/callback',
          'data-lines': 'true',
        }}
      />
    </>
  )
}
