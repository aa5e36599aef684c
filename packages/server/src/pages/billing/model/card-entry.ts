import { randomBytes } from 'node:crypto'
import type { ProviderName } from '@tollgate/billing'
import type { ServiceContext } from '../../../context.ts'
import type { ContentPolicy } from '../../parts/render.tsx'
import { BadChoice } from './problems.ts'
import { findTestCard } from './test-cards.ts'

/**
 * The way of a card from the person to the provider. Its number never passes through us: in a demo a test
 * card is chosen, or typed into what stands in for the provider's script; elsewhere that script takes it
 * and gives us a token.
 */
export interface CardEntry {
  readonly provider: ProviderName
  readonly kind: 'test' | 'script' | 'missing'
  /** Stripe's publishable key, where the script needs it. */
  readonly key: string | null
  /** The addresses of the provider's scripts: its own, in a demo the sandbox's. */
  readonly scripts: readonly string[]
  /** The sources that the page has to allow for these scripts. */
  readonly policy: ContentPolicy
  /** Whether the scripts open windows of other origins, as PayPal's button does. */
  readonly opensWindows: boolean
  /** The nonce of the page's policy, which PayPal's script puts on what it adds to the page. `null` at Stripe. */
  readonly nonce: string | null
}

/** The version of braintree-web; all of its files must have the same one. */
const BRAINTREE_WEB = '/web/3.144.0/js'

/** Paths of the scripts, below the provider's address or the sandbox's. */
const PATHS: Readonly<Record<ProviderName, readonly string[]>> = {
  stripe: ['/v3/'],
  braintree: [
    `${BRAINTREE_WEB}/client.min.js`,
    `${BRAINTREE_WEB}/hosted-fields.min.js`,
    `${BRAINTREE_WEB}/three-d-secure.min.js`,
    `${BRAINTREE_WEB}/paypal-checkout.min.js`,
  ],
}

export function cardEntryOf(service: ServiceContext, provider: ProviderName): CardEntry {
  const { sandbox, config } = service
  const opensWindows = provider === 'braintree'
  const nonce = opensWindows ? randomBytes(16).toString('base64url') : null
  const from = (base: string, policy: ContentPolicy) => {
    const scripts = PATHS[provider].map((path) => `${base}${path}`)
    return { provider, nonce, opensWindows, scripts, policy }
  }
  if (sandbox) {
    const { url } = sandbox[provider]
    const key = provider === 'stripe' ? sandbox.stripe.publishableKey : null
    return { ...from(url, sandboxPolicy(url, nonce)), kind: 'test', key }
  }
  if (provider === 'braintree') {
    const { environment, apiUrl = null } = config.braintree ?? {}
    // A sandbox in another process has the scripts, too; Braintree's own refuse its address.
    const base = apiUrl === null ? 'https://js.braintreegateway.com' : new URL(apiUrl).origin
    const isLive = environment === 'production'
    const policy = apiUrl === null ? braintreePolicy(isLive, nonce) : sandboxPolicy(apiUrl, nonce)
    return { ...from(base, policy), kind: 'script', key: null }
  }
  const key = config.stripePublishableKey
  if (key === null) return { ...from('', {}), kind: 'missing', key, scripts: [] }
  return { ...from('https://js.stripe.com', STRIPE_POLICY), kind: 'script', key }
}

function sandboxPolicy(url: string, nonce: string | null): ContentPolicy {
  const { origin } = new URL(url)
  return {
    'script-src': [origin],
    ...(nonce === null ? {} : { 'style-src': [`'nonce-${nonce}'`] }),
    'frame-src': [origin],
    'connect-src': [origin],
  }
}

/** https://docs.stripe.com/security/guide#content-security-policy */
const STRIPE_POLICY: ContentPolicy = {
  'script-src': ['https://js.stripe.com', 'https://*.js.stripe.com'],
  'frame-src': ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
  'connect-src': ['https://api.stripe.com'],
}

/**
 * Sources that hosted fields, 3-D Secure and PayPal's button need.
 * https://braintree.github.io/braintree-web/current/#content-security-policy
 * https://developer.paypal.com/sdk/js/best-practices
 */
function braintreePolicy(isLive: boolean, nonce: string | null): ContentPolicy {
  const part = isLive ? '' : 'sandbox.'
  const paypal = ['https://*.paypal.com', 'https://*.paypalobjects.com']
  const cardinal = isLive
    ? ['https://songbird.cardinalcommerce.com', 'https://static.client.cardinaltrusted.com']
    : ['https://songbirdstag.cardinalcommerce.com', 'https://cas.static.client.cardinaltrusted.com']
  return {
    'script-src': [
      'https://js.braintreegateway.com',
      'https://assets.braintreegateway.com',
      ...cardinal,
      ...paypal,
      `'nonce-${nonce}'`,
    ],
    'style-src': [`'nonce-${nonce}'`],
    // Hosted fields hide inputs by attributes, on phones and in Firefox.
    'style-src-attr': ["'unsafe-inline'"],
    'img-src': ['https://assets.braintreegateway.com', ...paypal, 'data:'],
    // 3-D Secure shows a page of the card's bank, and sends it a form: every bank has an address of its own.
    'frame-src': ['https:'],
    'form-action': ['https:'],
    'connect-src': [
      `https://api.${part}braintreegateway.com`,
      `https://client-analytics.${part}braintreegateway.com`,
      'https://*.braintree-api.com',
      'https://*.cardinalcommerce.com',
      'https://*.cardinaltrusted.com',
      ...paypal,
    ],
  }
}

/** Payment methods of Stripe, nonces of Braintree. What they stand for is the provider's to say. */
const TOKENS: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_\w{1,200}$/,
  braintree: /^[\w-]{1,200}$/,
}

/** In a demo: what the sandbox makes of a card that was typed in. */
const TYPED: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_1\w{1,200}$/,
  braintree: /^tokencc_\w{1,200}$/,
}

export function parseToken(entry: CardEntry, value: string | null): string {
  const token = value ?? ''
  const isGood =
    entry.kind === 'test'
      ? findTestCard(entry.provider, token) !== null || TYPED[entry.provider].test(token)
      : TOKENS[entry.provider].test(token)
  if (isGood) return token
  throw new BadChoice(
    entry.kind === 'test' ? 'Please choose one of the test cards.' : 'Please enter a card.',
  )
}
