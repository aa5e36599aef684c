import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import { redactText } from '../../logger.ts'
import type { PageText } from '../../messages/messages.ts'
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
import { isCancelled } from '../parts/confirmation.tsx'
import { TextField } from '../parts/fields.tsx'
import { readOwnForm, requireUser, userOf } from '../parts/forms.ts'
import { OwnForm, usePage } from '../parts/layout.tsx'
import { renderAccount, renderDelete, renderDeleted, renderDisable } from './account.tsx'

/** Notices on the overview, by the `done` of the address. */
const OVERVIEW_NOTICES = ['unknown', 'own'] as const

/** Notices on the page of the account, by the `done` of the address. */
const NOTICES = ['disabled', 'enabled', 'waiting'] as const

/**
 * Returns the text for the notice that an action on an account was done. `null` if `done` names no
 * such action.
 */
export function accountNoticeOf(done: string | undefined, t: PageText): string | null {
  const notice = OVERVIEW_NOTICES.find((name) => name === done)
  return notice ? t(`accounts.${notice}`) : null
}

type Question = 'accounts.choose' | 'accounts.chooseOpen' | 'accounts.confirm'

/**
 * Adds the pages that find, disable, enable and delete accounts. Disabling and deleting ask for
 * confirmation on a separate page.
 */
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
  for (const [name, { ask, act }] of Object.entries(ACTIONS)) {
    if (ask) {
      app.get(`${base}/${name}`, ...guards, (c) =>
        withOtherAccount(c, c.req.query('user'), (account) =>
          orShowFailure(c, account, () => ask(c, account)),
        ),
      )
    }
    app.post(`${base}/${name}`, ...guards, async (c) => {
      const form = await readOwnForm(c)
      return withOtherAccount(c, form.get('user'), (account) =>
        isCancelled(form)
          ? c.redirect(pathOf(account), 303)
          : orShowFailure(c, account, () => act(c, account, form)),
      )
    })
  }
}

interface AccountAction {
  /** Renders the confirmation page. Absent if the action ends nothing. */
  ask?(c: Context<AppEnv>, account: Account): Promise<Response>
  act(c: Context<AppEnv>, account: Account, form: URLSearchParams): Promise<Response>
}

const ACTIONS: Readonly<Record<'disable' | 'enable' | 'delete', AccountAction>> = {
  disable: {
    ask: (c, account) => askToDisable(c, account, null),
    async act(c, account, form) {
      const choice = parseChoice(form.get('subscription'))
      try {
        await disableAccount(c.get('page').service, accessOf(c), account, { choice })
      } catch (error) {
        if (error instanceof DecisionRequired) return askToDisable(c, account, 'accounts.choose')
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
      if (form.get('confirm') !== 'yes') return askToDelete(c, account, 'accounts.confirm')
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
        const isChoice = error.subscriptions.length > 0
        return askToDelete(c, account, isChoice ? 'accounts.choose' : 'accounts.chooseOpen')
      }
      return c.redirect(pathOf(account, 'waiting'), 303)
    },
  },
}

/** Works while a provider is away: an intruder is locked out first. */
async function askToDisable(c: Context<AppEnv>, account: Account, question: Question | null) {
  const problem = question && c.get('page').t(question)
  const subscriptions = await subscriptionsOf(accessOf(c), account)
  return renderDisable(c, { account, subscriptions, open: NOTHING_OPEN, problem })
}

async function askToDelete(c: Context<AppEnv>, account: Account, question: Question | null) {
  const problem = question && c.get('page').t(question)
  return renderDelete(c, { account, ...(await standingOf(accessOf(c), account)), problem })
}

async function showAccount(
  c: Context<AppEnv>,
  account: Account,
  view: { readonly problem?: string; readonly status?: 409 | 503 } = {},
): Promise<Response> {
  const subscriptions = await subscriptionsOf(accessOf(c), account)
  const done = c.req.method === 'GET' ? c.req.query('done') : undefined
  const notice = NOTICES.find((name) => name === done)
  const text = notice && c.get('page').t(`accounts.${notice}`)
  return renderAccount(c, { account, subscriptions, notice: text, ...view })
}

/** Shows a failure on the page of the account, which also shows how far the operation got. */
async function orShowFailure(
  c: Context<AppEnv>,
  account: Account,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const isUnfinished = error instanceof AccountUnfinished
    const { t } = c.get('page')
    const problem = isUnfinished ? redactText(error.in(t)) : describeProblem(error, t)?.message
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

/** Rejects the operator's own account, because they would lock themselves out. */
async function withOtherAccount(
  c: Context<AppEnv>,
  text: string | null | undefined,
  work: (account: Account) => Response | Promise<Response>,
): Promise<Response> {
  const account = await findAccount(c, text)
  if (!account) return c.redirect('/overview?done=unknown', 303)
  return account.id === userOf(c).id ? c.redirect('/overview?done=own', 303) : work(account)
}

/** The form on the overview page that finds an account. */
export const Accounts: FC = () => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="accounts">
      <h2 id="accounts">{t('overview.accounts')}</h2>
      <OwnForm action="/overview/users">
        <TextField
          id="user"
          label={t('overview.accounts.label')}
          input={{ name: 'user', required: true }}
        />
        <button type="submit">{t('overview.accounts.find')}</button>
      </OwnForm>
    </section>
  )
}
