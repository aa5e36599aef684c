import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { STRIPE_JS_SCRIPT } from '../../src/stripe/server/browser/stripe-js.ts'

const TYPES = join(
  dirname(createRequire(import.meta.url).resolve('@stripe/stripe-js/package.json')),
  'dist/stripe-js',
)

/** Returns the names of an interface's methods in Stripe's declarations. */
function methodsOf(file: string, name: string): Set<string> {
  const text = readFileSync(join(TYPES, file), 'utf8')
  const body = text.split(new RegExp(`(?:interface|type|class) ${name}\\b[^{]*\\{`))[1] ?? ''
  const end = body.search(/^\}/m)
  const found = body.slice(0, end).matchAll(/^ {2}(\w+)(?:<[^(]*>)?\??[(:]/gm)
  return new Set([...found].flatMap(([, method]) => method ?? []))
}

interface Loaded {
  (key: string): Record<string, unknown> & { elements(options?: object): Record<string, unknown> }
  version: string
}

function load(): Loaded {
  const window: { Stripe?: Loaded } = {}
  const document = { currentScript: { src: 'http://127.0.0.1:1/v3/' } }
  runInNewContext(STRIPE_JS_SCRIPT, { window, document, URL, URLSearchParams })
  if (!window.Stripe) throw new Error('The script made no Stripe')
  return window.Stripe
}

it('the replacement for Stripe.js has no method that Stripe does not declare, except one of older versions', () => {
  const stripe = load()('pk_test_1')
  const own = Object.keys(stripe).filter((name) => !name.startsWith('_'))
  const declared = methodsOf('stripe.d.ts', 'Stripe')
  expect(declared.size).toBeGreaterThan(30)
  expect(own.filter((name) => !declared.has(name))).toEqual(['redirectToCheckout'])
  expect(own).toEqual(
    expect.arrayContaining([
      'elements',
      'createToken',
      'createPaymentMethod',
      'confirmCardPayment',
      'confirmCardSetup',
      'confirmPayment',
      'confirmSetup',
      'handleCardAction',
      'handleNextAction',
      'retrievePaymentIntent',
      'retrieveSetupIntent',
    ]),
  )
})

it('the replacement for Stripe.js names the functions that it does not support', async () => {
  const stripe = load()('pk_test_1')
  const declared = [...methodsOf('stripe.d.ts', 'Stripe')]
  const silent = declared.filter((name) => typeof stripe[name] !== 'function')
  expect(silent).toEqual([])
  const confirmIdealPayment = stripe.confirmIdealPayment as () => Promise<unknown>
  await expect(confirmIdealPayment()).rejects.toThrow('does not imitate stripe.confirmIdealPayment')
  expect((stripe as { then?: unknown }).then).toBeUndefined()
})

it('the replacement for Stripe.js has elements with the methods that Stripe declares', () => {
  const elements = load()('pk_test_1').elements({ mode: 'payment' })
  const declared = methodsOf('elements-group.d.ts', 'StripeElements')
  expect([...declared].filter((name) => typeof elements[name] !== 'function')).toEqual([])
  const { create } = elements as { create(type: string): Record<string, unknown> }
  const files = {
    card: ['elements/card.d.ts', 'StripeCardElement'],
    payment: ['elements/payment.d.ts', 'StripePaymentElement'],
  } as const
  for (const [type, [file, name]] of Object.entries(files)) {
    const element = create(type)
    const wanted = [
      ...methodsOf(file, name),
      ...methodsOf('elements/base.d.ts', 'StripeElementBase'),
    ]
    expect([type, wanted.filter((method) => typeof element[method] !== 'function')]).toEqual([
      type,
      [],
    ])
  }
})

it('the replacement for Stripe.js rejects a secret key', () => {
  expect(() => load()('sk_test_1')).toThrow(/secret key/)
})
