import type { Token } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import {
  ConfirmDialog,
  Dialog,
  DialogButtons,
  FormProblem,
  NeedsScript,
  SecretDialog,
} from './parts/dialogs.tsx'
import { Choice, Problem, TextField } from './parts/fields.tsx'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { ScopeList, type Scopes } from './parts/scopes.tsx'
import { Day, Empty, Table } from './parts/table.tsx'

/** Personal access tokens. The script makes and revokes them by the JSON API. */
export function addTokens(app: Hono<AppEnv>): void {
  app.get('/tokens', requireUser(), async (c) => {
    const { oauth, config } = c.get('page').service
    const all = await oauth.tokens.listByUser(userOf(c).id)
    const tokens = all.filter((token) => token.grantType === 'personal_access')
    const { scopes } = config.settings
    return renderPage(
      c,
      { title: 'Personal access tokens' },
      <>
        <div class="heading">
          <div>
            <h1>Personal access tokens</h1>
            <p class="lead">For your own scripts and programs that call the API as you.</p>
          </div>
          <button type="button" class="primary" data-scripted hidden data-open="new-token">
            New token
          </button>
        </div>
        <NeedsScript>Creating and revoking tokens needs JavaScript.</NeedsScript>
        <section class="card" id="list" aria-label="Your tokens" data-live>
          {tokens.length === 0 ? (
            <Empty title="No tokens yet">
              Create one, choose what it may do, and send it as <code>Authorization: Bearer …</code>{' '}
              with each request.
            </Empty>
          ) : (
            <Table
              caption="Your personal access tokens"
              columns={['Name', 'Allowed to', 'Created', 'Expires', 'Actions']}
              rows={tokens.map((token) => cellsOf(token, scopes))}
            />
          )}
        </section>
        <NewToken scopes={scopes} />
        <SecretDialog title="Your new token">
          It is shown this once. Whoever has it can act as you, within what you chose.
        </SecretDialog>
        <ConfirmDialog />
      </>,
    )
  })
}

function cellsOf(token: Token, scopes: Scopes) {
  return [
    <strong>
      <bdi>{token.name}</bdi>
    </strong>,
    <ScopeList names={token.scopes} scopes={scopes} />,
    <Day at={token.createdAt} />,
    <Day at={token.expiresAt} />,
    <span class="actions" data-scripted hidden>
      <button
        type="button"
        class="small danger-quiet"
        data-open="confirm"
        data-api={`DELETE /oauth/personal-access-tokens/${token.id}`}
        data-title="Revoke this token?"
        data-text={`Whatever uses “${token.name}” stops working at once. This cannot be undone.`}
        data-action="Revoke"
        data-done="The token was revoked."
        aria-label={`Revoke ${token.name}`}
      >
        Revoke
      </button>
    </span>,
  ]
}

const NewToken: FC<{ scopes: Scopes }> = ({ scopes }) => (
  <Dialog id="new-token" title="New token">
    <form
      data-api="POST /oauth/personal-access-tokens"
      data-done="The token was created."
      novalidate
    >
      <TextField
        id="token-name"
        label="Name"
        hint="What will use it, so that you know it again."
        input={{ name: 'name', maxlength: 191, autocomplete: 'off', required: true }}
      />
      <fieldset aria-describedby="token-scopes-problem">
        <legend>What may it do?</legend>
        {Object.entries(scopes).map(([name, description]) => (
          <Choice
            id={`scope-${name}`}
            type="checkbox"
            name="scopes"
            value={name}
            title={description}
            description={name}
          />
        ))}
        <input type="hidden" name="scopes" data-many />
        <Problem id="token-scopes" />
      </fieldset>
      <FormProblem />
      <DialogButtons action="Create token" />
    </form>
  </Dialog>
)
