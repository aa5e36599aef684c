import { expect, it } from 'vitest'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import {
  decidePlannedSwapRecovery,
  type PlannedSwapRecovery,
  type StoredPlannedSwap,
} from './planned-swap-recovery.ts'

const NOW = new Date('2026-01-20T10:00:00Z')
const at = new Date('2026-02-15T10:00:00Z')
const before = [{ price: 'pro', quantity: 1 }]
const after = [{ price: 'pro', quantity: 3 }]
const items = [{ price: 'monthly', quantity: 3 }]

const kept = (
  to: StoredPlannedSwap['to'],
  of: Partial<StoredPlannedSwap> = {},
): StoredPlannedSwap => {
  const request = { provider: 'stripe', of: 'sub_1', to, items, tax: 0, by: 'first' } as const
  return { ...request, at: at.getTime(), before, after, ...of }
}
const found = (
  [main]: readonly RequestedItem[],
  by: string | null,
  more: Partial<ProviderSubscription> = {},
) => {
  const planned = by === null ? null : { items, at, operation: by }
  const told = { price: main?.price, quantity: main?.quantity, isOver: false, endsAt: null }
  return { ...told, planned, isScheduled: by !== null, ...more } as ProviderSubscription
}
const NEW = { provider: 'stripe', of: 'sub_1', items } as const

it.each<[string, object, ProviderSubscription | null, PlannedSwapRecovery]>([
  ['a new plan that was made', NEW, found(before, 'own'), 'over'],
  ['a new plan that was not made', NEW, found(before, null), 'wait'],
  ['a new plan, while another one exists', NEW, found(before, 'first'), 'wait'],
  ['a new plan of a missing subscription', NEW, null, 'over'],

  ['released, and nothing changed', kept('restore'), found(before, null), 'plan'],
  [
    'released, and only the schedule created again',
    kept('restore'),
    found(before, null, { isScheduled: true }),
    'plan',
  ],
  ['not released', kept('restore'), found(before, 'first'), 'over'],
  ['released, and planned again', kept('restore'), found(before, 'own'), 'over'],
  ['released, and swapped', kept('restore'), found(after, null), 'over'],
  ['released, and cancelled', kept('restore'), found(before, null, { endsAt: at }), 'over'],
  ['released, and ended', kept('restore'), found(before, null, { isOver: true }), 'over'],
  ['released, and the subscription is gone', kept('restore'), null, 'over'],
  [
    'released, and its date has passed',
    kept('restore', { at: NOW.getTime() }),
    found(before, null),
    'over',
  ],

  ['changed, and the plan not updated', kept('carry'), found(after, 'first'), 'plan'],
  [
    'changed to the planned prices, and the plan not updated',
    kept('carry'),
    found(after, null, { isScheduled: true }),
    'plan',
  ],
  ['changed, and the plan updated', kept('carry'), found(after, 'own'), 'over'],
  ['not changed yet', kept('carry'), found(before, 'first'), 'wait'],
  [
    'a change that does not affect prices',
    kept('carry', { after: before }),
    found(before, 'first'),
    'plan',
  ],
  [
    'changed to other prices',
    kept('carry'),
    found([{ price: 'pro', quantity: 9 }], 'first'),
    'over',
  ],
  ['changed, and another swap planned', kept('carry'), found(after, 'second'), 'over'],
  ['changed, and the plan cancelled', kept('carry'), found(after, null), 'over'],
  ['changed, and cancelled', kept('carry'), found(after, 'first', { endsAt: at }), 'over'],
  [
    'changed, and its date has passed',
    kept('carry', { at: NOW.getTime() }),
    found(after, 'first'),
    'over',
  ],
])(
  'decidePlannedSwapRecovery(), after a change of a planned swap was interrupted, returns what to do: %s',
  (_name, request, subscription, verdict) => {
    const operation = { id: 'own', request: request as StoredPlannedSwap }
    expect(decidePlannedSwapRecovery(operation, subscription, NOW)).toBe(verdict)
  },
)
