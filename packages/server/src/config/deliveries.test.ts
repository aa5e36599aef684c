import { describe, expect, it } from 'vitest'
import { readEnvironment } from './environment.ts'
import { parseSettings } from './settings.ts'

const secret = `whsec_${Buffer.alloc(32, 'key').toString('base64')}`
const other = `whsec_${Buffer.alloc(24, 'other').toString('base64')}`
const url = 'https://app.example.com/events/'
const production = {
  DATABASE_URL: 'postgres://db.internal/app',
  TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
  TOLLGATE_URL: 'https://api.example.com',
  STRIPE_SECRET: 'sk_live_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
}

function read(environment: Record<string, string>, settings: object = {}) {
  const needs = ['secret', 'url', 'providers'] as const
  return readEnvironment(environment, { settings: parseSettings(settings), needs })
}

describe('the endpoints for billing events in the settings', () => {
  it('are an empty list by default, and may be on this machine in a demo', () => {
    expect(read(production).deliveries).toEqual({
      endpoints: [],
      privateAddresses: [],
      certificates: [],
    })
    const { privateAddresses } = read({ TOLLGATE_SECRET: production.TOLLGATE_SECRET }).deliveries
    expect(privateAddresses).toEqual(['127.0.0.0/8', '::1'])
  })

  it('come from the configuration file, unless an environment variable contains one', () => {
    const endpoints = [{ url: 'https://a.example/in', secret: [secret], types: ['invoice.paid'] }]
    const deliveries = { endpoints, privateAddresses: ['10.0.0.0/8'] }
    expect(read(production, { deliveries }).deliveries).toMatchObject(deliveries)
    const environment = {
      ...production,
      TOLLGATE_DELIVERIES_URL: url,
      TOLLGATE_DELIVERIES_SECRET: `${secret}, ${other}`,
      TOLLGATE_DELIVERIES_TYPES: 'invoice.paid, subscription.ended',
      TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES: '172.16.0.0/12',
    }
    expect(read(environment, { deliveries }).deliveries).toEqual({
      endpoints: [{ url, secret: [secret, other], types: ['invoice.paid', 'subscription.ended'] }],
      privateAddresses: ['172.16.0.0/12'],
      certificates: [],
    })
  })

  it.each([
    ['no secret', { TOLLGATE_DELIVERIES_URL: url }, 'TOLLGATE_DELIVERIES_SECRET is missing'],
    [
      'a secret that is none',
      { TOLLGATE_DELIVERIES_URL: url, TOLLGATE_DELIVERIES_SECRET: 'whsec_short' },
      'TOLLGATE_DELIVERIES_SECRET expects whsec_',
    ],
    ['no address', { TOLLGATE_DELIVERIES_URL: 'app' }, 'TOLLGATE_DELIVERIES_URL expects an http'],
    ['an unknown type', { TOLLGATE_DELIVERIES_TYPES: 'invoice.seen' }, 'expects one or more of'],
  ])('are rejected in environment variables with %s', (_, environment, message) => {
    expect(() => read({ ...production, ...environment })).toThrow(message)
    expect(() => read({ ...production, ...environment })).not.toThrow('whsec_short')
  })

  it('cause a warning if a related variable has no effect', () => {
    expect(read({ ...production, TOLLGATE_DELIVERIES_SECRET: secret }).warnings).toEqual([
      'TOLLGATE_DELIVERIES_SECRET is not used, because TOLLGATE_DELIVERIES_URL is not set.',
    ])
  })

  it.each([
    ['a secret that is none', { endpoints: [{ url, secret: 'x' }] }, /endpoints\.0\.secret: /],
    ['an unknown type', { endpoints: [{ url, secret, types: ['x'] }] }, /endpoints\.0\.types\.0: /],
    ['a name', { endpoints: [], privateAddresses: ['localhost'] }, /privateAddresses\.0: /],
    ['another word', { endpoint: [] }, /deliveries\.endpoint: .+ Did you mean endpoints\?/],
  ])('are rejected in the configuration file with %s', (_, deliveries, message) => {
    expect(() => parseSettings({ deliveries })).toThrow(message)
  })
})
