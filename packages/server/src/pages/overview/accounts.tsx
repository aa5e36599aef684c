import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv, PageContext } from '../../http/variables.ts'
import { deleteAccount, disableAccount, enableAccount } from '../../users/end-account.ts'
import { TextField } from '../parts/fields.tsx'
import { readOwnForm } from '../parts/forms.ts'
import { CsrfField } from '../parts/layout.tsx'
import { requireUser, userOf } from '../parts/page-context.ts'

/** What the operator is told afterwards, by the `done` of the address. */
export const accountNotices: Readonly<Record<string, string>> = {
  disabled: 'The account is disabled: its sessions and tokens have ended.',
  enabled: 'The account may sign in again.',
  deleted: 'The account is deleted, with its sessions, tokens and approvals.',
  unknown: 'There is no account with this id or e-mail address.',
  own: 'This is your own account: another operator has to do it.',
  billed:
    'This person is a customer of a payment provider, which would go on charging them: cancel first, or disable the account.',
  address: 'To delete an account for good, type its whole e-mail address.',
}

type Action = (c: Context<AppEnv>, text: string) => Promise<string>

const actions: Readonly<Record<'disable' | 'enable' | 'delete', Action>> = {
  disable: (c, text) =>
    forAccount(c, text, async ({ id }) => {
      await disableAccount(c.get('page').service, id)
      return 'disabled'
    }),
  enable: (c, text) =>
    forAccount(c, text, async ({ id }) => {
      await enableAccount(c.get('page').service, id)
      return 'enabled'
    }),
  delete: (c, text) =>
    forAccount(c, text, async ({ id, email, billedBy }) => {
      if (text.trim().toLowerCase() !== email.toLowerCase()) return 'address'
      if (billedBy !== null) return 'billed'
      await deleteAccount(c.get('page').service, id)
      return 'deleted'
    }),
}

async function forAccount(
  c: Context<AppEnv>,
  text: string,
  act: (account: { id: string; email: string; billedBy: string | null }) => Promise<string>,
): Promise<string> {
  const account = await c.get('page').service.users.findAccount(text.trim())
  if (!account) return 'unknown'
  return account.id === userOf(c).id ? 'own' : act(account)
}

export function addAccounts(app: Hono<AppEnv>, requireOperator: MiddlewareHandler<AppEnv>): void {
  for (const [name, act] of Object.entries(actions)) {
    app.post(`/overview/users/${name}`, requireUser(), requireOperator, async (c) => {
      const form = await readOwnForm(c)
      return c.redirect(`/overview?done=${await act(c, form.get('user') ?? '')}`, 303)
    })
  }
}

export const Accounts: FC<{ page: PageContext }> = ({ page }) => (
  <section class="card" aria-labelledby="accounts">
    <h2 id="accounts">Accounts</h2>
    <form method="post" action="/overview/users/disable">
      <CsrfField page={page} />
      <TextField id="user" label="Id or e-mail address" input={{ name: 'user', required: true }} />
      <p class="actions">
        <button type="submit">Disable</button>{' '}
        <button type="submit" formaction="/overview/users/enable">
          Enable
        </button>{' '}
        <button type="submit" class="danger" formaction="/overview/users/delete">
          Delete for good
        </button>
      </p>
    </form>
  </section>
)
