import type { Context } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import { IdentityTaken } from '../users/linked-identities.ts'
import { emailKey } from '../users/parse.ts'

/**
 * Links the identity at another provider that waits for its person to sign in to the account. Only
 * for the account that has the verified address of the identity, and still has it.
 */
export async function completePendingLink(
  c: Context<AppEnv>,
  userId: string,
  sessionId: string,
): Promise<void> {
  const { users, upstream, recovery, sessions } = c.get('page').service
  const pending = upstream.pendingLink.read(c.req.header('cookie') ?? null)
  if (pending?.userId !== userId) return
  c.header('set-cookie', upstream.pendingLink.deletion, { append: true })
  const user = await users.findById(userId)
  if (!user || emailKey(user.email) !== emailKey(pending.email)) return
  const { provider, subject, email } = pending
  try {
    await users.identities.link(userId, { provider, subject, email }, (write) =>
      sessions.whileOpen(userId, sessionId, write),
    )
    const name = upstream.find(provider)?.name ?? provider
    await recovery.notify(user, 'sign_in_method_added', name)
  } catch (error) {
    // The person is signed in all the same, and sees on the account page what is linked.
    if (!(error instanceof IdentityTaken)) throw error
  }
}
