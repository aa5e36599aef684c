import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { describeFuture, describeOpen, describeSubscription } from '../users/describe-account.ts'
import { type AccountOutcome, AccountUnfinished } from '../users/end-account.ts'
import {
  deleteOwnAccount,
  needsActionOfPerson,
  type OwnDeletion,
  planOwnDeletion,
} from '../users/own-account.ts'
import type { Account } from '../users/user.ts'
import { showOutage } from './account-export.tsx'
import { Confirmation, isCancelled } from './parts/confirmation.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { hasProvenIdentity, IdentityField, requireProvableIdentity } from './parts/identity.tsx'
import { usePage } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'

/** Adds the page on which people delete their own account. */
export function addAccountDeletionPage(app: Hono<AppEnv>): void {
  app.get('/account/delete', requireUser(), requireProvableIdentity, (c) => deletePage(c))

  app.post('/account/delete', requireUser(), requireProvableIdentity, async (c) => {
    const { service, t } = c.get('page')
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect('/account', 303)
    if (form.get('confirm') !== 'yes') return deletePage(c, { problem: t('accounts.confirm') })
    if (!(await hasProvenIdentity(c, form))) return deletePage(c, { wrong: t('account.wrong') })
    const account = await service.users.findAccount(getSignedInUser(c).id)
    if (!account) return c.redirect('/login', 303)
    try {
      const plan = await planOwnDeletion(service, service.admin.billing, account)
      if (plan.obstacle !== null) return deletePage(c)
      const outcome = await deleteOwnAccount(service, service.admin.billing, account)
      service.logger.info({ user: account.id }, 'A person deleted their account')
      return await deletedPage(c, account, outcome)
    } catch (error) {
      if (needsActionOfPerson(error)) return deletePage(c)
      if (!(error instanceof AccountUnfinished)) return showOutage(c, error)
      service.logger.warn({ err: error, user: account.id }, 'The deletion of an account will go on')
      return deletedPage(c, account, null)
    }
  })
}

interface DeleteView {
  /** Problem of the whole form. */
  readonly problem?: string
  /** Why the password was rejected. */
  readonly wrong?: string
}

async function deletePage(c: Context<AppEnv>, { problem, wrong }: DeleteView = {}) {
  const { service, t } = c.get('page')
  const account = await service.users.findAccount(getSignedInUser(c).id)
  if (!account) return c.redirect('/login', 303)
  let plan: OwnDeletion
  try {
    plan = await planOwnDeletion(service, service.admin.billing, account)
  } catch (error) {
    return showOutage(c, error)
  }
  const clients = await service.oauth.clients.listByUser(account.id)
  const isPost = c.req.method === 'POST'
  if (plan.obstacle !== null) {
    return renderPage(
      c,
      { title: t('leave.title'), status: isPost ? 409 : 200 },
      <section class="card narrow stack">
        <h1>{t('leave.title')}</h1>
        <Obstacle plan={plan} />
        <p class="aside">
          <a href="/account">{t('account.back')}</a>
        </p>
      </section>,
    )
  }
  return renderPage(
    c,
    { title: t('leave.title'), status: isPost ? 422 : 200 },
    <Confirmation
      title={t('leave.question')}
      action="/account/delete"
      fields={{}}
      cancelLabel={t('accounts.delete.stay')}
      confirmLabel={t('accounts.delete.go')}
      problem={problem ?? null}
    >
      <Consequences account={account} plan={plan} clients={clients.map(({ name }) => name)} />
      <p>{t.parts('leave.export', { link: <a href="/account/export">{t('export.title')}</a> })}</p>
      <IdentityField problem={wrong} />
      <label class="check">
        <input type="checkbox" name="confirm" value="yes" required /> {t('leave.confirm')}
      </label>
    </Confirmation>,
  )
}

/** Lists the effects of the deletion before it happens. */
const Consequences: FC<{
  readonly account: Account
  readonly plan: OwnDeletion
  /** Names of the applications that the person has registered. */
  readonly clients: readonly string[]
}> = ({ account, plan, clients }) => {
  const { t } = usePage()
  return (
    <>
      <p>{t.parts('leave.text', { email: <bdi>{account.email}</bdi> })}</p>
      <ul>
        <li>{t('leave.access')}</li>
        {plan.ending.map((fact) => (
          <li>{t('leave.subscription', { name: describeSubscription(fact, t) })}</li>
        ))}
        {clients.length > 0 && (
          <li>
            {t.parts('leave.clients', {
              names: <Names names={clients} />,
              clients: <a href="/clients">{t('places.clients')}</a>,
            })}
          </li>
        )}
        {account.billedBy !== null && <li>{t('leave.invoices')}</li>}
        <li>{t('leave.again')}</li>
      </ul>
    </>
  )
}

/** Names that people chose, which may be in any script. */
const Names: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {names.map((name, at) => (
      <>
        {at > 0 && ', '}
        <bdi>{name}</bdi>
      </>
    ))}
  </>
)

/** Why the account cannot be deleted now, and what the person can do about it. */
const Obstacle: FC<{ plan: OwnDeletion }> = ({ plan: { obstacle, open } }) => {
  const { t } = usePage()
  const billing = <a href="/billing">{t('places.billing')}</a>
  if (obstacle === 'operator') return <p>{t('leave.operator')}</p>
  if (obstacle === 'dispute') return <p>{t('leave.dispute')}</p>
  if (obstacle === 'team') {
    return <p>{t.parts('leave.team', { teams: <a href="/teams">{t('places.teams')}</a> })}</p>
  }
  return (
    <>
      <p>{t('leave.open')}</p>
      <ul>
        {describeOpen(open, t).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      <p>{t.parts('leave.pay', { billing })}</p>
    </>
  )
}

/** Renders the last page that the person sees. `outcome` is `null` if the deletion is unfinished. */
async function deletedPage(c: Context<AppEnv>, account: Account, outcome: AccountOutcome | null) {
  const page = c.get('page')
  const { t } = page
  const { cookie } = await page.service.sessions.end(c.req.header('cookie') ?? null)
  c.header('set-cookie', cookie, { append: true })
  c.set('page', { ...page, user: null, signedInAt: null, session: null, csrfToken: null })
  const email = <bdi>{account.email}</bdi>
  return renderPage(
    c,
    { title: t('leave.done') },
    <section class="card narrow stack">
      <h1>{t('leave.done')}</h1>
      <p role="status">
        {t.parts(outcome === null ? 'leave.continues' : 'leave.deleted', { email })}
      </p>
      {outcome?.subscriptions.map((fact) => (
        <p>{describeFuture(fact, t)}</p>
      ))}
      <p class="aside">
        <a href="/login">{t('signIn.title')}</a>
      </p>
    </section>,
  )
}
