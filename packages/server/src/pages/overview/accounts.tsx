import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv, PageContext } from '../../http/variables.ts'
import { redactText } from '../../logger.ts'
import { NOTHING_OPEN, parseChoice } from '../../users/account-billing.ts'
import {
  AccountUnfinished,
  type BillingAccess,
  DecisionRequired,
  deleteAccount,
  disableAccount,
  enableAccount,
  standingOf,
  subscriptionsOf,
} from '../../users/end-account.ts'
import type { Account } from '../../users/user.ts'
import { describeProblem } from '../billing/model/problems.ts'
import { stays } from '../parts/confirmation.tsx'
import { TextField } from '../parts/fields.tsx'
import { readOwnForm } from '../parts/forms.ts'
import { CsrfField } from '../parts/layout.tsx'
import { requireUser, userOf } from '../parts/page-context.ts'
import { renderAccount, renderDelete, renderDeleted, renderDisable } from './account.tsx'

/** Notices on the overview, by the `done` of the address. */
export const accountNotices: Readonly<Record<string, string>> = {
  unknown: 'There is no account with this id or e-mail address.',
  own: 'This is your own account: another operator has to do it.',
}

/** Notices on the page of the account, by the `done` of the address. */
const NOTICES: Readonly<Record<string, string>> = {
  disabled: 'The account is disabled: its sessions and tokens have ended.',
  enabled: 'The account may sign in again.',
  waiting: 'The account is disabled. Delete it when the subscription has ended.',
}

const CHOOSE = 'Please choose what happens to the subscription.'
const CHOOSE_OPEN = 'Something is still open. Void it, or leave the account as it is.'
const CONFIRM = 'Please tick the box that you want to delete this account.'

/** Both steps of ending an account: a page that asks, and the form on it. */
export function addAccounts(app: Hono<AppEnv>, requireOperator: MiddlewareHandler<AppEnv>): void {
  const base = '/overview/users'
  const guards = [requireUser(), requireOperator] as const

  app.post(base, ...guards, async (c) => {
    const account = await findAccount(c, (await readOwnForm(c)).get('user'))
    return c.redirect(account ? pathOf(account) : '/overview?done=unknown', 303)
  })
  app.get(base, ...guards, async (c) => {
    const account = await findAccount(c, c.req.query('user'))
    return account ? showAccount(c, account) : c.redirect('/overview?done=unknown', 303)
  })
  for (const [name, { ask, act }] of Object.entries(DEEDS)) {
    if (ask) {
      app.get(`${base}/${name}`, ...guards, (c) =>
        forOther(c, c.req.query('user'), (account) => orToldWhy(c, account, () => ask(c, account))),
      )
    }
    app.post(`${base}/${name}`, ...guards, async (c) => {
      const form = await readOwnForm(c)
      return forOther(c, form.get('user'), (account) =>
        stays(form)
          ? c.redirect(pathOf(account), 303)
          : orToldWhy(c, account, () => act(c, account, form)),
      )
    })
  }
}

interface Deed {
  /** The page that asks first; none where nothing ends. */
  ask?(c: Context<AppEnv>, account: Account): Promise<Response>
  act(c: Context<AppEnv>, account: Account, form: URLSearchParams): Promise<Response>
}

const DEEDS: Readonly<Record<'disable' | 'enable' | 'delete', Deed>> = {
  disable: {
    ask: (c, account) => askToDisable(c, account, null),
    async act(c, account, form) {
      const choice = parseChoice(form.get('subscription'))
      try {
        await disableAccount(c.get('page').service, accessOf(c), account, { choice })
      } catch (error) {
        if (error instanceof DecisionRequired) return askToDisable(c, account, CHOOSE)
        throw error
      }
      return c.redirect(pathOf(account, 'disabled'), 303)
    },
  },
  enable: {
    async act(c, account) {
      await enableAccount(c.get('page').service, accessOf(c), account)
      return c.redirect(pathOf(account, 'enabled'), 303)
    },
  },
  delete: {
    ask: (c, account) => askToDelete(c, account, null),
    async act(c, account, form) {
      if (form.get('confirm') !== 'yes') return askToDelete(c, account, CONFIRM)
      const decisions = {
        choice: parseChoice(form.get('subscription')),
        voidOpen: form.get('void') === 'yes',
      }
      try {
        const { service } = c.get('page')
        const outcome = await deleteAccount(service, accessOf(c), account, decisions)
        if (outcome.state === 'deleted') return await renderDeleted(c, outcome)
      } catch (error) {
        if (!(error instanceof DecisionRequired)) throw error
        return askToDelete(c, account, error.subscriptions.length > 0 ? CHOOSE : CHOOSE_OPEN)
      }
      return c.redirect(pathOf(account, 'waiting'), 303)
    },
  },
}

/** Works while a provider is away: an intruder is locked out first. */
async function askToDisable(c: Context<AppEnv>, account: Account, problem: string | null) {
  const subscriptions = await subscriptionsOf(accessOf(c), account)
  return renderDisable(c, { account, subscriptions, open: NOTHING_OPEN, problem })
}

async function askToDelete(c: Context<AppEnv>, account: Account, problem: string | null) {
  return renderDelete(c, { account, ...(await standingOf(accessOf(c), account)), problem })
}

async function showAccount(
  c: Context<AppEnv>,
  account: Account,
  view: { readonly problem?: string; readonly status?: 409 | 503 } = {},
): Promise<Response> {
  const subscriptions = await subscriptionsOf(accessOf(c), account)
  const done = c.req.method === 'GET' ? (c.req.query('done') ?? '') : ''
  const notice = Object.hasOwn(NOTICES, done) ? NOTICES[done] : undefined
  return renderAccount(c, { account, subscriptions, notice, ...view })
}

/** Shows a failure on the page of the account, which also shows how far the operation came. */
async function orToldWhy(
  c: Context<AppEnv>,
  account: Account,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const isUnfinished = error instanceof AccountUnfinished
    const problem = isUnfinished ? redactText(error.message) : describeProblem(error)?.message
    if (problem === undefined) throw error
    c.get('page').service.logger.warn({ err: error }, 'An account could not be ended')
    const now = (await c.get('page').service.users.findAccount(account.id)) ?? account
    return showAccount(c, now, { problem, status: 503 })
  }
}

const pathOf = ({ id }: Account, done?: string) =>
  `/overview/users?user=${encodeURIComponent(id)}${done ? `&done=${done}` : ''}`

function accessOf(c: Context<AppEnv>): BillingAccess {
  const { billing } = c.get('page').service
  return { rows: async () => billing, provider: async () => billing }
}

function findAccount(c: Context<AppEnv>, text: string | null | undefined) {
  return c.get('page').service.users.findAccount((text ?? '').trim())
}

/** Refuses the operator's own account: they would lock themselves out. */
async function forOther(
  c: Context<AppEnv>,
  text: string | null | undefined,
  work: (account: Account) => Response | Promise<Response>,
): Promise<Response> {
  const account = await findAccount(c, text)
  if (!account) return c.redirect('/overview?done=unknown', 303)
  return account.id === userOf(c).id ? c.redirect('/overview?done=own', 303) : work(account)
}

/** Finds an account, and changes nothing. */
export const Accounts: FC<{ page: PageContext }> = ({ page }) => (
  <section class="card" aria-labelledby="accounts">
    <h2 id="accounts">Accounts</h2>
    <form method="post" action="/overview/users">
      <CsrfField page={page} />
      <TextField id="user" label="Id or e-mail address" input={{ name: 'user', required: true }} />
      <button type="submit">Look it up</button>
    </form>
  </section>
)
