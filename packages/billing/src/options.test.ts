import type { Database } from '@tollgate/database'
import { describe, expect, it } from 'vitest'
import type { BillingOptions } from './options.ts'
import { resolveOptions } from './resolve-options.ts'

const good: BillingOptions = {
  database: {} as Database,
  users: { table: 'users' },
  stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
}

const OPTIONAL = [
  ...['owners', 'braintree', 'providers', 'defaultProvider', 'taxPercentage', 'tax', 'handlers'],
  ...['on', 'deliveries', 'mail', 'maxFailedCharges', 'webhookAttempts', 'lockLease'],
  ...['processEvery', 'paths', 'baseUrl', 'authenticate', 'failedPath', 'invoice', 'locale'],
  ...['disputes', 'trials', 'pauses', 'codeAttempts', 'migrate', 'clock', 'logger'],
]
const TABLE = ['id', 'idType', 'email', 'name', 'phone', 'address']
const STRIPE = ['currency', 'prices', 'config']
const BRAINTREE = ['currency', 'prices', 'planCredit', 'descriptionField', 'metered', 'timeout']

function blank(nothing: undefined, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, nothing]))
}

function metered(nothing: undefined): object {
  return {
    unitAmount: 5,
    ...blank(nothing, ['description', 'included', 'packageSize', 'tiers', 'mode']),
  }
}

/** The comparable part of the options: functions are created anew each time. */
function shown(value: unknown): unknown {
  if (typeof value === 'function') return 'a function'
  if (value instanceof Map) return [...value].map(shown)
  if (Array.isArray(value)) return value.map(shown)
  if (value === null || typeof value !== 'object' || value === console) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, shown(member)]))
}

describe('the options of createBilling()', () => {
  it('have default values', () => {
    expect(resolveOptions(good)).toMatchObject({
      defaultProvider: 'stripe',
      paths: {
        webhooks: new Map([['/stripe/webhook', 'stripe']]),
        invoice: '/user/invoice/{invoice}',
      },
    })
    const users = { id: 'id', idType: 'integer', email: 'email', name: 'name' }
    expect(resolveOptions(good).owners.get('user')).toMatchObject(users)
  })

  const braintree = {
    environment: 'sandbox',
    merchantId: 'm',
    publicKey: 'p',
    privateKey: 'k',
  } as const
  it.each<[string, Partial<BillingOptions>, RegExp]>([
    ['two taxes', { tax: 'automatic', taxPercentage: () => 19 }, /tax and taxPercentage/],
    [
      'two taxes of a team',
      { tax: { rates: () => [] }, owners: { team: { table: 'teams', taxPercentage: () => 7 } } },
      /tax and owners\.team\.taxPercentage/,
    ],
    ['an unknown tax', { tax: 'manual' as 'automatic' }, /tax: expected/],
    ['a blank key', { stripe: { secret: ' ', webhookSecret: 'w' } }, /stripe\.secret/],
    ['no webhook secret', { stripe: { secret: 's', webhookSecret: [] } }, /webhookSecret/],
    ['a blank webhook secret', { stripe: { secret: 's', webhookSecret: '' } }, /webhookSecret/],
    ['a provider that is not there', { defaultProvider: 'braintree' }, /not configured/],
    ['a bad table', { users: { table: 'users; drop' } }, /users\.table/],
    ['a bad path', { paths: { stripeWebhook: 'stripe' } }, /paths\.stripeWebhook/],
    [
      'one path for two providers',
      { braintree, paths: { braintreeWebhook: '/stripe/webhook' } },
      /stripe and braintree both have/,
    ],
    ['a path without an id', { paths: { invoice: '/invoice' } }, /paths\.invoice/],
    [
      'a currency that does not exist, at Stripe',
      { stripe: { secret: 's', webhookSecret: 'w', currency: 'xyz' } },
      /stripe\.currency/,
    ],
    [
      'a currency that does not exist, at Braintree',
      { braintree: { ...braintree, currency: 'dollar' } },
      /braintree\.currency/,
    ],
    ['half an attempt', { webhookAttempts: 0.5 }, /webhookAttempts/],
    [
      'an unknown environment',
      { braintree: { ...braintree, environment: 'x' as 'sandbox' } },
      /environment/,
    ],
  ])('reject %s at start-up', (_name, change, message) => {
    expect(() => resolveOptions({ ...good, ...change })).toThrow(message)
  })

  it.each<[string, (nothing: undefined) => object, object]>([
    ['the options', (nothing) => blank(nothing, OPTIONAL), {}],
    ['users', (nothing) => ({ users: { table: 'users', ...blank(nothing, TABLE) } }), {}],
    [
      'owners',
      (nothing) => ({
        owners: { team: { table: 'teams', ...blank(nothing, [...TABLE, 'taxPercentage']) } },
      }),
      { owners: { team: { table: 'teams' } } },
    ],
    [
      'owners, with another tax',
      (nothing) => ({
        tax: 'automatic',
        owners: { team: { table: 'teams', taxPercentage: nothing } },
      }),
      { tax: 'automatic', owners: { team: { table: 'teams' } } },
    ],
    ['an owner', (nothing) => ({ owners: { team: nothing } }), {}],
    [
      'an owner, with another tax',
      (nothing) => ({ tax: 'automatic', owners: { team: nothing } }),
      { tax: 'automatic' },
    ],
    ['stripe', (nothing) => ({ stripe: { ...good.stripe, ...blank(nothing, STRIPE) } }), {}],
    [
      'braintree',
      (nothing) => ({ braintree: { ...braintree, ...blank(nothing, BRAINTREE) } }),
      { braintree },
    ],
    [
      'metered prices',
      (nothing) => ({ braintree: { ...braintree, metered: { calls: nothing } } }),
      { braintree: { ...braintree, metered: {} } },
    ],
    [
      'a metered price',
      (nothing) => ({ braintree: { ...braintree, metered: { calls: metered(nothing) } } }),
      { braintree: { ...braintree, metered: { calls: { unitAmount: 5 } } } },
    ],
    [
      'paths',
      (nothing) => ({
        paths: blank(nothing, ['stripeWebhook', 'braintreeWebhook', 'invoice', 'checkoutReturn']),
      }),
      {},
    ],
    ['disputes', (nothing) => ({ disputes: { access: nothing } }), {}],
    ['pauses', (nothing) => ({ pauses: { access: nothing } }), {}],
    ['trials', (nothing) => ({ trials: { oncePerOwner: nothing } }), {}],
    ['codeAttempts', (nothing) => ({ codeAttempts: blank(nothing, ['limit', 'seconds']) }), {}],
    [
      'deliveries',
      (nothing) => ({
        deliveries: { endpoints: [], ...blank(nothing, ['privateAddresses', 'timeout']) },
      }),
      {},
    ],
  ])('have their default for values that are undefined (in: %s)', (_name, written, absent) => {
    const resolved = resolveOptions({ ...good, ...written(undefined) } as BillingOptions)
    expect(shown(resolved)).toEqual(shown(resolveOptions({ ...good, ...absent })))
  })

  it('never repeat a secret in an error message', () => {
    const options = { ...good, stripe: { secret: ' sk_live_abc ', webhookSecret: 'w' } }
    expect(() => resolveOptions(options)).toThrow(expect.not.stringContaining('sk_live_abc'))
  })

  it('reject an unknown kind of mail, and list the kinds', () => {
    const mail = { send: async () => {}, only: ['receipts' as 'receipt'] }
    const invoice = { vendor: 'Example Ltd', product: 'Gold' }
    expect(() => resolveOptions({ ...good, invoice, mail })).toThrow(
      "mail.only: 'receipts' should be 'receipt', 'payment_failed', 'action_required', 'trial_ending', 'card_expiring' or 'refunded'.",
    )
    expect(() =>
      resolveOptions({ ...good, invoice, mail: { ...mail, only: ['receipt'] } }),
    ).not.toThrow()
  })

  it('reject a configuration without a provider', () => {
    const { stripe: _stripe, ...none } = good
    expect(() => resolveOptions(none)).toThrow(/No provider/)
  })
})
