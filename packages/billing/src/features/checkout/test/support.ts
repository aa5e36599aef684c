import { expect } from 'vitest'
import {
  countProviderSubscriptions,
  type FlowTest,
  sumChargedCents,
} from '../../../../test/support.ts'
import type { BillableUser } from '../../../index.ts'

export const CHECKOUT_OPTIONS = { name: 'main', successPath: '/billing/done?from=checkout#top' }

export async function listStoredOperationKinds({ database }: FlowTest): Promise<string[]> {
  const rows = await database.kysely.selectFrom('billing_operations').select('kind').execute()
  return rows.map(({ kind }) => kind)
}

export async function expectOneSubscription(test: FlowTest, user: BillableUser): Promise<void> {
  const [subscription, ...others] = await user.subscriptions()
  expect(others).toEqual([])
  expect([subscription?.name, subscription?.providerPlan]).toEqual(['main', 'monthly'])
  expect(subscription?.valid()).toBe(true)
  expect(countProviderSubscriptions(test, user)).toBe(1)
  expect(sumChargedCents(test, user)).toBe(1000)
  expect(await listStoredOperationKinds(test)).toEqual([])
}
