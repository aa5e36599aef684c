import { describeOutcome } from '../../../users/describe-account.ts'
import { type AccountOutcome, deleteAccount } from '../../../users/end-account.ts'
import type { Command } from '../../command.ts'
import { ACCOUNT, requireAccount } from '../../find-account.ts'
import { withCore } from '../../open.ts'
import { withBillingAccess } from '../../open-billing.ts'
import { orChoices, outcomeJson, readChoice, SUBSCRIPTION_OPTION } from './money-options.ts'

export const userDelete: Command = {
  summary: 'delete an account for good; its sessions, tokens and approvals end',
  arguments: [ACCOUNT],
  options: [
    SUBSCRIPTION_OPTION,
    {
      flags: '--void-open',
      description: 'void usage that is not billed yet and invoices that are not paid',
    },
  ],
  async run(input, context) {
    const choice = readChoice(input)
    const voidOpen = input.options.voidOpen === true
    const config = await context.config(['secret'])
    return withCore(config, async (core, database) => {
      const account = await requireAccount(core.users, input.args[0] ?? '')
      return withBillingAccess(context, { config, database }, async (billing) => {
        const decisions = { choice, voidOpen }
        const outcome = await orChoices('delete', deleteAccount(core, billing, account, decisions))
        const deleted = outcome.state === 'deleted'
        const { usage, debts } = outcome.voided
        const json = {
          ...outcomeJson(outcome),
          deleted,
          voided: { unbilled_usage: usage, unpaid: debts },
        }
        return { json, text: [...sentences(outcome), ...describeOutcome(outcome)].join('\n') }
      })
    })
  },
}

function sentences({ account: { id, email }, state }: AccountOutcome): string[] {
  if (state !== 'deleted') {
    return [
      `Not deleted yet: ${email} (${id}) is disabled, with all sessions and tokens ended. Repeat this when the subscription has ended.`,
    ]
  }
  return [
    `Deleted ${email} (${id}) with all sessions, tokens and approvals. Applications they registered stay: \`tollgate client list --user ${id}\`. Invoices stay at the provider.`,
  ]
}
