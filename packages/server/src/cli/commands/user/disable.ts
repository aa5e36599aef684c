import { disableAccount, enableAccount } from '../../../users/end-account.ts'
import type { Command } from '../../command.ts'
import { ACCOUNT, requireAccount } from '../../find-account.ts'
import { withCore } from '../../open.ts'

export const userDisable: Command = {
  summary: 'lock an account; its sessions and tokens end, on every process within a second',
  arguments: [ACCOUNT],
  async run({ args: [user = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async (core) => {
      const { id, email } = await requireAccount(core.users, user)
      await disableAccount(core, id)
      const text = `Disabled ${email} (${id}). All their sessions and tokens have ended; subscriptions go on.`
      return { json: { id, email, disabled: true }, text }
    })
  },
}

export const userEnable: Command = {
  summary: 'let a disabled account sign in again',
  arguments: [ACCOUNT],
  async run({ args: [user = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async (core) => {
      const { id, email } = await requireAccount(core.users, user)
      await enableAccount(core, id)
      return { json: { id, email, disabled: false }, text: `${email} (${id}) may sign in again` }
    })
  },
}
