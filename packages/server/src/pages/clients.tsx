import type { Client } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
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
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { Address, Empty, Table } from './parts/table.tsx'

/** Applications that people of this service may connect. The script changes them by the JSON API. */
export function addClients(app: Hono<AppEnv>): void {
  app.get('/clients', requireUser(), async (c) => {
    const clients = await c.get('page').service.oauth.clients.listByUser(userOf(c).id)
    return renderPage(
      c,
      { title: 'Clients' },
      <>
        <div class="heading">
          <div>
            <h1>Clients</h1>
            <p class="lead">
              Your applications that ask people here for access to their accounts. Whoever is asked
              sees the name of your account, never your e-mail address.
            </p>
          </div>
          <button type="button" class="primary" data-scripted hidden data-open="new-client">
            New client
          </button>
        </div>
        <NeedsScript>
          Creating and changing clients needs JavaScript. The command{' '}
          <code>tollgate client create</code> does the same.
        </NeedsScript>
        <section class="card" id="list" aria-label="Your clients" data-live>
          {clients.length === 0 ? (
            <Empty title="No clients yet">
              Create one to get the ID and secret your application needs to send people here.
            </Empty>
          ) : (
            <Table
              caption="Your clients"
              columns={['Name', 'Client ID', 'Redirects', 'Actions']}
              rows={clients.map(cellsOf)}
            />
          )}
        </section>
        <NewClient implicit={c.get('page').service.config.settings.implicitGrant} />
        <EditClient />
        <SecretDialog title="Keep this secret">
          It is shown this once. Store it where only your application can read it.
        </SecretDialog>
        <ConfirmDialog />
      </>,
    )
  })
}

function cellsOf(client: Client) {
  const path = `/oauth/clients/${client.id}`
  const { confidential } = client
  return [
    <>
      <strong>
        <bdi>{client.name}</bdi>
      </strong>
      <span class="badge">{confidential ? 'Confidential' : 'Public'}</span>
    </>,
    <Copyable id={`id-${client.id}`} value={client.id} what={`the ID of ${client.name}`} />,
    <ul class="plain addresses">
      {client.redirectUris.map((uri) => (
        <li>
          <Address url={uri} />
        </li>
      ))}
    </ul>,
    <span class="actions" data-scripted hidden>
      <button
        type="button"
        class="small"
        data-open="edit-client"
        data-api={`PUT ${path}`}
        data-values={JSON.stringify({
          name: client.name,
          redirect: client.redirectUris.join('\n'),
        })}
        aria-label={`Edit ${client.name}`}
      >
        Edit
      </button>
      {confidential && (
        <button
          type="button"
          class="small"
          data-open="confirm"
          data-api={`POST ${path}/secret`}
          data-title="Make a new secret?"
          data-text={`The secret of “${client.name}” in use now stops working at once, and with it every refresh token issued to it.`}
          data-action="Make a new secret"
          aria-label={`New secret for ${client.name}`}
        >
          New secret
        </button>
      )}
      <button
        type="button"
        class="small danger-quiet"
        data-open="confirm"
        data-api={`DELETE ${path}`}
        data-title="Delete this client?"
        data-text={`“${client.name}” and every token it holds stop working at once. This cannot be undone.`}
        data-action="Delete"
        data-done="The client was deleted."
        aria-label={`Delete ${client.name}`}
      >
        Delete
      </button>
    </span>,
  ]
}

const NewClient: FC<{ implicit: boolean }> = ({ implicit }) => (
  <Dialog id="new-client" title="New client">
    <form data-api="POST /oauth/clients" data-done="The client was created." novalidate>
      <ClientFields prefix="new" />
      <fieldset>
        <legend>Where does it run?</legend>
        <Choice
          id="new-confidential"
          type="radio"
          name="confidential"
          value="true"
          title="On a server"
          description="It can keep a secret (a confidential client)."
          checked
        />
        <Choice
          id="new-public"
          type="radio"
          name="confidential"
          value="false"
          title="In a browser, on a phone or in a terminal"
          description="It has no secret and proves itself with PKCE (a public client)."
        />
      </fieldset>
      {implicit && (
        <fieldset>
          <legend>Older browser applications</legend>
          <Choice
            id="new-implicit"
            type="checkbox"
            name="implicit"
            value="true"
            title="Allow the implicit flow"
            description="The token comes in the address of the page. Leave this off unless the application needs it."
          />
        </fieldset>
      )}
      <FormProblem />
      <DialogButtons action="Create client" />
    </form>
  </Dialog>
)

const EditClient: FC = () => (
  <Dialog id="edit-client" title="Edit client">
    <form data-done="The client was saved." novalidate>
      <ClientFields prefix="edit" />
      <FormProblem />
      <DialogButtons action="Save" />
    </form>
  </Dialog>
)

const ClientFields: FC<{ prefix: string }> = ({ prefix }) => (
  <>
    <TextField
      id={`${prefix}-name`}
      label="Name"
      hint="People read it when they are asked to approve."
      input={{ name: 'name', maxlength: 191, autocomplete: 'off', required: true }}
    />
    <TextArea
      id={`${prefix}-redirect`}
      label="Redirect addresses"
      hint="Where people are sent back to, one on each line, exactly as your application names them."
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
