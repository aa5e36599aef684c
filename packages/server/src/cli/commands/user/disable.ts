import { describeOutcome } from '../../../users/describe-account.ts'
import { disableAccount, enableAccount } from '../../../users/end-account.ts'
import type { Command } from '../../command.ts'
import { ACCOUNT, requireAccount } from '../../find-account.ts'
import { withCore } from '../../open.ts'
import { withBillingAccess } from '../../open-billing.ts'
import { orChoices, outcomeJson, readChoice, SUBSCRIPTION_OPTION } from './money-options.ts'

export const userDisable: Command = {
  summary: 'lock an account; its sessions and tokens end, on every process within a second',
  arguments: [ACCOUNT],
  options: [SUBSCRIPTION_OPTION],
  async run(input, context) {
    const choice = readChoice(input)
    const config = await context.config(['secret'])
    return withCore(config, async (core, database) => {
      const account = await requireAccount(core.users, input.args[0] ?? '')
      return withBillingAccess(context, { config, database }, async (billing) => {
        const outcome = await orChoices(
          'disable',
          disableAccount(core, billing, account, { choice }),
        )
        const text = [
          `Disabled ${account.email} (${account.id}). All their sessions and tokens have ended.`,
          ...describeOutcome(outcome),
        ]
        return { json: { ...outcomeJson(outcome), disabled: true }, text: text.join('\n') }
      })
    })
  },
}

export const userEnable: Command = {
  summary: 'let a disabled account sign in again',
  arguments: [ACCOUNT],
  async run({ args: [user = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async (core, database) => {
      const account = await requireAccount(core.users, user)
      return withBillingAccess(context, { config, database }, async (billing) => {
        const outcome = await enableAccount(core, billing, account)
        const text = [
          `${account.email} (${account.id}) may sign in again.`,
          ...describeOutcome(outcome),
        ]
        return { json: { ...outcomeJson(outcome), disabled: false }, text: text.join('\n') }
      })
    })
  },
}
