import type { Database } from '@tollgate/database'
import { createServiceBilling } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import { type Core, createCore } from '../../core.ts'
import { connectProviders } from '../../demo/connect-providers.ts'
import { findRunningDemo } from '../../demo/data-folder.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import type { Command, CommandContext, Outcome } from '../command.ts'
import { checkPrices, checkProviders, checkWebhooks } from '../doctor/billing.ts'
import { checkClock, checkDatabase, checkReplication } from '../doctor/database.ts'
import { checkDeliveries } from '../doctor/deliveries.ts'
import { type Finding, ok, problem, warning } from '../doctor/finding.ts'
import { checkIssuer } from '../doctor/issuer.ts'
import { checkKeys } from '../doctor/keys.ts'
import { checkMcp } from '../doctor/mcp.ts'
import { checkProxies } from '../doctor/proxies.ts'
import { checkRedirects } from '../doctor/redirects.ts'
import { checkStandards } from '../doctor/standards.ts'

export const doctor: Command = {
  summary:
    'check configuration, database, clock, keys, standards, addresses, webhooks and providers',
  async run(_input, context) {
    return report(await withProgress('Checking', () => examine(context)))
  },
}

async function examine(context: CommandContext): Promise<Finding[]> {
  let config: Config
  try {
    config = await withRunningAddress(await context.config(['secret', 'url', 'providers']), context)
  } catch (error) {
    if (!(error instanceof ConfigurationError) && !(error instanceof TypeError)) throw error
    return [problem('configuration', error.message, 'Set what is named, and run it again.')]
  }
  const configuration = [
    ok('configuration', `It is complete; this is ${config.mode}`),
    ...config.warnings.map((text) => warning('configuration', text)),
  ]
  const { findings, database } = await checkDatabase(config)
  if (!database) return [...configuration, ...findings]
  try {
    return [
      ...configuration,
      ...findings,
      ...(await examineService(config, database, context.environment)),
    ]
  } finally {
    await database.close()
  }
}

/** A running demo noted in its data folder where it listens, which this command's environment need not say. */
async function withRunningAddress(
  config: Config,
  { environment }: CommandContext,
): Promise<Config> {
  if (config.mode !== 'demo' || environment.TOLLGATE_URL || environment.PORT) return config
  return { ...config, url: (await findRunningDemo(config.dataDir)) ?? config.url }
}

async function examineService(
  config: Config,
  database: Database,
  environment: CommandContext['environment'],
): Promise<Finding[]> {
  const logger = createLogger('silent')
  const url = config.url ?? 'http://localhost'
  const shared = { config, database, logger, background: false }
  let core: Core
  try {
    core = createCore({ ...shared, url })
  } catch (error) {
    // What the settings say is right by itself, and does not fit together.
    if (!(error instanceof TypeError)) throw error
    const fix = 'Change it in tollgate.config.ts, or in the environment.'
    return [problem('configuration', error.message, fix)]
  }
  const { oauth } = core
  const { providers, close } = await connectProviders(config)
  const billing = createServiceBilling({ ...shared, providers, url })
  try {
    const issuer = await checkIssuer(config)
    return [
      ...(await checkReplication(database)),
      ...(await checkClock(database)),
      ...(await checkKeys(oauth, database.clock.now(), environment)),
      ...(await checkStandards(config, database)),
      ...(await checkMcp(config)),
      ...(await checkRedirects(database, url)),
      ...issuer.findings,
      ...(issuer.answers ? await checkProxies(config) : []),
      ...(await checkProviders(billing, providers)),
      ...(await checkPrices(providers, config)),
      ...(await checkWebhooks({ billing, providers, config, serviceAnswers: issuer.answers })),
      ...(await checkDeliveries(billing, config)),
    ]
  } finally {
    oauth.close()
    await billing.close()
    await close()
  }
}

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const

function report(findings: readonly Finding[]): Outcome {
  const healthy = findings.every(({ level }) => level !== 'problem')
  const lines = findings.map(({ check, level, message, fix }) => {
    const line = `${MARKS[level]}  ${check.padEnd(14)} ${message}`
    return fix === null ? line : `${line}\n${' '.repeat(25)}→ ${fix}`
  })
  const verdict = healthy ? 'Nothing is wrong.' : 'Something is wrong: see PROBLEM above.'
  return {
    json: { healthy, findings },
    text: `${lines.join('\n')}\n\n${verdict}`,
    exitCode: healthy ? 0 : 1,
  }
}
