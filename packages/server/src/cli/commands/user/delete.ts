import { deleteAccount } from '../../../users/end-account.ts'
import { type Command, UsageError } from '../../command.ts'
import { ACCOUNT, requireAccount } from '../../find-account.ts'
import { withCore } from '../../open.ts'

export const userDelete: Command = {
  summary: 'delete an account for good; its sessions, tokens and approvals end',
  arguments: [ACCOUNT],
  options: [
    {
      flags: '--even-if-billed',
      description: 'also when the person is a customer of a payment provider',
    },
  ],
  async run({ args: [user = ''], options }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async (core) => {
      const { id, email, billedBy } = await requireAccount(core.users, user)
      if (billedBy !== null && options.evenIfBilled !== true) {
        throw new UsageError(
          `${email} is a customer at ${billedBy}, which would go on charging them. Cancel what they have there first, then give --even-if-billed; or \`tollgate user disable ${id}\`.`,
        )
      }
      await deleteAccount(core, id)
      const text = `Deleted ${email} (${id}) with all sessions, tokens and approvals. Applications they registered stay: \`tollgate client list --user ${id}\`.`
      return { json: { id, email, deleted: true }, text }
    })
  },
}
