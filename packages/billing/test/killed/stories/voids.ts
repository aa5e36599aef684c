import { expect } from 'vitest'
import { isBillingError } from '../../../src/index.ts'
import { takenFrom } from '../../support.ts'
import { main, type Story } from '../story.ts'

export const voids: readonly Story[] = [
  {
    name: 'void the first invoice',
    providers: ['stripe'],
    async before({ user }) {
      const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
      await asked.catch((error: unknown) => {
        if (!isBillingError(error, 'payment_action_required')) throw error
      })
    },
    job: { job: 'voidInvoice' },
    async again({ user }) {
      const subscription = await main({ user })
      const { latest_invoice: id } = (await subscription.asProvider()) as { latest_invoice: string }
      await (await user.findInvoice(id))?.void()
    },
    async outcome({ test, user }, at) {
      const { providerStatus } = await main({ user })
      expect([providerStatus, await user.subscribed('main')], at).toEqual([
        'incomplete_expired',
        false,
      ])
      expect(takenFrom(test, user), at).toBe(0)
    },
  },
]
