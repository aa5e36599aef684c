import type { Token } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import type { PageText } from '../messages/messages.ts'
import {
  ConfirmDialog,
  Dialog,
  DialogButtons,
  FormProblem,
  NeedsScript,
  SecretDialog,
} from './parts/dialogs.tsx'
import { Choice, Problem, TextField } from './parts/fields.tsx'
import { getSignedInUser, requireUser } from './parts/forms.ts'
import { Heading, usePage } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { Day, Empty, type ScopeDescriptions, ScopeList, Table } from './parts/table.tsx'

/** Adds the page for personal access tokens. Its script uses the JSON API. */
export function addTokenPage(app: Hono<AppEnv>): void {
  app.get('/tokens', requireUser(), async (c) => {
    const { service, t } = c.get('page')
    const { oauth, config } = service
    const all = await oauth.tokens.listByUser(getSignedInUser(c).id)
    const tokens = all.filter((token) => token.grantType === 'personal_access')
    const { scopes } = config.settings
    return renderPage(
      c,
      { title: t('tokens.title') },
      <>
        <Heading title={t('tokens.title')} lead={t('tokens.lead')}>
          <button type="button" class="primary" data-scripted hidden data-open="new-token">
            {t('tokens.new')}
          </button>
        </Heading>
        <NeedsScript>{t('tokens.needsScript')}</NeedsScript>
        <section class="card" id="list" aria-label={t('tokens.yours')} data-live>
          {tokens.length === 0 ? (
            <Empty title={t('tokens.empty')}>
              {t.parts('tokens.emptyText', { header: <code>Authorization: Bearer …</code> })}
            </Empty>
          ) : (
            <Table
              caption={t('tokens.caption')}
              columns={[
                t('tokens.name'),
                t('tokens.allowed'),
                t('tokens.created'),
                t('tokens.expires'),
                t('tokens.lastUsed'),
                t('table.actions'),
              ]}
              rows={tokens.map((token) => renderTokenCells(token, scopes, t))}
            />
          )}
        </section>
        <NewToken scopes={scopes} />
        <SecretDialog title={t('tokens.secretTitle')}>{t('tokens.secretText')}</SecretDialog>
        <ConfirmDialog />
      </>,
    )
  })
}

function renderTokenCells(token: Token, scopes: ScopeDescriptions, t: PageText) {
  const { id } = token
  const name = token.name ?? ''
  return [
    <strong>
      <bdi>{token.name}</bdi>
    </strong>,
    <ScopeList names={token.scopes} scopes={scopes} />,
    <Day at={token.createdAt} />,
    <Day at={token.expiresAt} />,
    token.lastUsedAt ? <Day at={token.lastUsedAt} /> : t('tokens.neverUsed'),
    <span class="actions" data-scripted hidden>
      <button
        type="button"
        class="small danger-quiet"
        data-open="confirm"
        data-api={`DELETE /oauth/personal-access-tokens/${id}`}
        data-title={t('tokens.revokeQuestion')}
        data-text={t('tokens.revokeText', { name })}
        data-action={t('tokens.revoke')}
        data-done={t('tokens.revoked')}
        aria-label={t('tokens.revokeName', { name })}
      >
        {t('tokens.revoke')}
      </button>
    </span>,
  ]
}

/** The lifetimes to choose from. Those beyond the service's own limit are rejected by the API. */
const EXPIRY_DAYS = [7, 30, 90, 180]

const NewToken: FC<{ scopes: ScopeDescriptions }> = ({ scopes }) => {
  const { t } = usePage()
  return (
    <Dialog id="new-token" title={t('tokens.new')}>
      <form
        data-api="POST /oauth/personal-access-tokens"
        data-done={t('tokens.wasCreated')}
        novalidate
      >
        <TextField
          id="token-name"
          label={t('tokens.name')}
          hint={t('tokens.nameHint')}
          input={{ name: 'name', maxlength: 191, autocomplete: 'off', required: true }}
        />
        <fieldset aria-describedby="token-scopes-problem">
          <legend>{t('tokens.scopes')}</legend>
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
        <div class="field">
          <label for="token-expiry">{t('tokens.expiry')}</label>
          <select
            id="token-expiry"
            name="expires_in"
            data-number
            aria-describedby="token-expiry-problem"
          >
            <option value="">{t('tokens.expiry.longest')}</option>
            {EXPIRY_DAYS.map((days) => (
              <option value={days * 86_400}>{t('tokens.expiry.days', { days })}</option>
            ))}
          </select>
          <Problem id="token-expiry" />
        </div>
        <FormProblem />
        <DialogButtons action={t('tokens.create')} />
      </form>
    </Dialog>
  )
}
