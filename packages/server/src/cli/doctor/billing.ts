import type { Billing } from '@tollgate/billing'
import type { Providers } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { compareStripePrices, createStripeClient } from '../../plans/provider-prices.ts'
import { formatCount } from '../count.ts'
import { describeErrorBriefly, type Finding, ok, problem, warning } from './finding.ts'

/**
 * Checks the providers' API keys, and that the objects billing needs there exist, such as the
 * discount `plan-credit` at Braintree.
 */
export async function checkProviders(billing: Billing, providers: Providers): Promise<Finding[]> {
  const names = Object.keys(providers).join(' and ')
  try {
    const missing = await billing.check()
    if (missing.length === 0)
      return [
        ok(
          'providers',
          `${names}: the API keys work, and everything that billing needs there exists`,
        ),
      ]
    return missing.map((text) => {
      const [what = text, ...fix] = text.split(': ')
      return problem('providers', what, fix.join(': '))
    })
  } catch (error) {
    const fix =
      'Check the keys in STRIPE_* and BRAINTREE_*, and that this machine can reach the provider.'
    return [problem('providers', describeErrorBriefly(error), fix)]
  }
}

/**
 * Checks that the prices of the plans exist at Stripe, and cost what the pages show. Braintree plans
 * are not checked: a wrong id fails at the first sale.
 */
export async function checkPrices({ stripe }: Providers, config: Config): Promise<Finding[]> {
  if (!stripe) return []
  try {
    const compared = await compareStripePrices(createStripeClient(stripe), config)
    const missing = compared.filter(({ differences }) => differences === null).map(({ id }) => id)
    const different = compared.flatMap(({ id, differences }) =>
      (differences ?? []).map((text) => warning('plans', `The price ${id} at Stripe ${text}`, FIX)),
    )
    if (missing.length > 0) {
      const fix =
        'Create them with tollgate plans push, or write their ids into `stripe` of each plan in tollgate.config.ts.'
      const names = [...new Set(missing)].join(', ')
      return [problem('plans', `Stripe has no price ${names}`, fix), ...different]
    }
    if (different.length > 0) return different
    return [ok('plans', `All prices of the plans exist at Stripe (${compared.length})`)]
  } catch (error) {
    return [
      warning(
        'plans',
        `The prices of the plans could not be read from Stripe: ${describeErrorBriefly(error)}`,
      ),
    ]
  }
}

const FIX = 'Change the plan in tollgate.config.ts, or create another price at Stripe.'

/**
 * Checks that provider events arrive: the webhook routes respond, the endpoints are registered, and
 * no event is a dead letter.
 */
export async function checkWebhooks(options: {
  readonly billing: Billing
  readonly providers: Providers
  readonly config: Config
  readonly serviceAnswers: boolean
}): Promise<Finding[]> {
  const { billing, providers, config, serviceAnswers } = options
  const findings: Finding[] = []
  const dead = await billing.webhooks.deadLetters()
  if (dead.length > 0) {
    const fix = 'See the reasons in billing_webhooks.last_error, then run: tollgate billing sync'
    findings.push(
      problem(
        'webhooks',
        `${formatCount(dead.length, 'event', 'events')} failed at every attempt`,
        fix,
      ),
    )
  }
  if (config.mode === 'production' && serviceAnswers) {
    for (const name of Object.keys(providers)) {
      findings.push(await checkRoute(`${config.url}/${name}/webhook`))
    }
    findings.push(...(await checkRegistration(billing)))
  }
  if (findings.length === 0) findings.push(ok('webhooks', 'No event failed at every attempt'))
  return findings
}

/** Checks that the service itself, not a proxy, rejects an event without a signature. */
async function checkRoute(url: string): Promise<Finding> {
  try {
    const response = await fetch(url, { method: 'POST', body: '{}', redirect: 'manual' })
    if (response.status === 400) return ok('webhooks', `${url} responds and requires a signature`)
    const fix =
      'Configure the proxy to forward POST requests for this path to the service, unchanged.'
    return problem('webhooks', `${url} responds with ${response.status}`, fix)
  } catch (error) {
    return problem(
      'webhooks',
      `${url}: ${describeErrorBriefly(error)}`,
      'Configure the proxy to forward this path to the service.',
    )
  }
}

/** Compares the registered webhook endpoints, as `tollgate billing webhooks check` does. */
async function checkRegistration(billing: Billing): Promise<Finding[]> {
  try {
    const reports = await billing.endpoints.check()
    return reports.flatMap(({ provider, url, id, problems, note }) => {
      const fix = `Change the endpoint at the provider, or run: tollgate billing webhooks create${id === null ? '' : ' --replace'}, with --usage for the endpoint for dropped usage. Set ${provider.toUpperCase()}_WEBHOOK_SECRET to the secret that it prints.`
      const isWell = id !== null && problems.length === 0
      return [
        ...problems.map((text) => problem('webhooks', text, fix)),
        ...(isWell ? [ok('webhooks', `${provider} sends its events to ${url}`)] : []),
        ...(note === null ? [] : [ok('webhooks', note)]),
      ]
    })
  } catch (error) {
    return [
      warning(
        'webhooks',
        `The endpoints at the provider could not be read: ${describeErrorBriefly(error)}`,
      ),
    ]
  }
}

const CHECK = 'deliveries'

/** Reports the endpoints for outgoing billing events and the failed deliveries. */
export async function checkDeliveries(billing: Billing, config: Config): Promise<Finding[]> {
  const { deliveries } = config
  const { endpoints, dead, gone } = await readDeliveries(billing)
  if (endpoints.length === 0) return []
  const sent = endpoints.map((name, at) => {
    const types = deliveries.endpoints[at]?.types
    return ok(CHECK, `${types ? types.join(', ') : 'All events'} are sent to ${name}`)
  })
  return [...sent, ...explainAddresses(config), ...findFailed(dead), ...findGone(gone)]
}

async function readDeliveries({ deliveries }: Billing) {
  const [dead, gone] = await Promise.all([deliveries.list('dead'), deliveries.list('gone')])
  return { endpoints: deliveries.endpoints, dead, gone }
}

type Listed = Awaited<ReturnType<Billing['deliveries']['list']>>

function explainAddresses({ mode, deliveries: { privateAddresses = [] } }: Config): Finding[] {
  if (mode === 'demo' || privateAddresses.length === 0) return []
  return [ok(CHECK, `Events may be sent to ${privateAddresses.join(', ')}, which is not public`)]
}

function findFailed(dead: Listed): Finding[] {
  const [last] = dead
  if (!last) return []
  const failed = formatCount(dead.length, 'delivery', 'deliveries')
  const what = `${failed} failed at every attempt. The error of the last one: ${last.lastError}`
  const fix =
    'List them with tollgate billing deliveries list, and send them again with tollgate billing deliveries resend.'
  return [problem(CHECK, what, fix)]
}

function findGone(gone: Listed): Finding[] {
  return [...new Set(gone.map(({ endpoint }) => endpoint))].map((name) => {
    const fix = `Remove it from the settings, or run: tollgate billing deliveries resend --endpoint ${name}`
    return warning(CHECK, `${name} answered 410 Gone, so its events are on hold`, fix)
  })
}
