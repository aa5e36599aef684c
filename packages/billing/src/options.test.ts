import type { Database } from '@tollgate/database'
import { describe, expect, it } from 'vitest'
import { type BillingOptions, resolveOptions } from './options.ts'

const good: BillingOptions = {
  database: {} as Database,
  users: { table: 'users' },
  stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
}

describe('options', () => {
  it('have defaults', () => {
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
    ['half an attempt', { webhookAttempts: 0.5 }, /webhookAttempts/],
    [
      'an unknown environment',
      { braintree: { ...braintree, environment: 'x' as 'sandbox' } },
      /environment/,
    ],
  ])('refuse %s at start-up', (_name, change, message) => {
    expect(() => resolveOptions({ ...good, ...change })).toThrow(message)
  })

  it('never repeat a secret in a message', () => {
    const options = { ...good, stripe: { secret: ' sk_live_abc ', webhookSecret: 'w' } }
    expect(() => resolveOptions(options)).toThrow(expect.not.stringContaining('sk_live_abc'))
  })

  it('refuse to start without a provider', () => {
    const { stripe: _stripe, ...none } = good
    expect(() => resolveOptions(none)).toThrow(/No provider/)
  })
})
