import type { Context, MiddlewareHandler } from 'hono'
import type { FC } from 'hono/jsx'
import { isFreshSignIn } from '../../admin/authorize.ts'
import type { AppEnv, PageContext } from '../../http/variables.ts'
import { emailKey } from '../../users/parse.ts'
import { TextField } from './fields.tsx'
import { getSignedInUser } from './forms.ts'
import { usePage } from './layout.tsx'

/**
 * Checks the password of the signed-in person, within the limits on guessing. Returns `false` if it
 * is wrong, or the session has just ended.
 */
export async function checkOwnPassword(c: Context<AppEnv>, password: string): Promise<boolean> {
  const { service } = c.get('page')
  const user = getSignedInUser(c)
  const session = await service.sessions.find(c.req.header('cookie') ?? null)
  if (!session) return false
  const known = await service.limits.tryPassword(
    { sessionId: session.sessionId, network: c.get('network') },
    () => service.users.findByCredentials(user.email, password),
    (found) => (found?.id === user.id ? 'right' : 'wrong'),
  )
  if (known?.id !== user.id) return false
  await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
  return true
}

/** Whether the person signed in so recently that a form need not ask for the password. */
export function hasFreshSignIn({ signedInAt, service }: PageContext): boolean {
  return signedInAt !== null && isFreshSignIn(signedInAt, service.clock.now())
}

/**
 * Whether the sender of a form has proven who they are: by a sign-in within the last ten minutes, or
 * by the password in the field of `IdentityField`.
 */
export async function hasProvenIdentity(
  c: Context<AppEnv>,
  form: URLSearchParams,
): Promise<boolean> {
  return hasFreshSignIn(c.get('page')) || checkOwnPassword(c, form.get('current') ?? '')
}

/**
 * Asks people whose account has no password to sign in again, if their sign-in is older than ten
 * minutes: they could not fill in `IdentityField`.
 */
export const requireProvableIdentity: MiddlewareHandler<AppEnv> = async (c, next) => {
  const page = c.get('page')
  const { users } = page.service
  if (hasFreshSignIn(page) || (await users.hasPassword(getSignedInUser(c).id))) return next()
  const again = new URLSearchParams({ prompt: 'login', return_to: c.req.path })
  return c.redirect(`/login?${again}`, 303)
}

/**
 * The password field of a form in which people change their own account. Renders nothing after a
 * recent sign-in.
 */
export const IdentityField: FC<{ problem?: string | undefined }> = ({ problem }) => {
  const page = usePage()
  if (hasFreshSignIn(page)) return null
  return (
    <TextField
      id="current"
      label={page.t('account.current')}
      hint={page.t('account.currentHint')}
      problem={problem}
      input={{
        type: 'password',
        name: 'current',
        autocomplete: 'current-password',
        required: true,
      }}
    />
  )
}
