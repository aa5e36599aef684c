import { createServiceBilling } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import { createCore } from '../../core.ts'
import { connectMailServer, connectProviders } from '../../demo/connect-providers.ts'
import { findRunningDemo } from '../../demo/data-folder.ts'
import { createServiceGate } from '../../gate.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import type { ServiceDatabase } from '../../storage/tables.ts'
import { type CommandContext, type CommandResult, command } from '../command.ts'
import { checkDeliveries, checkPrices, checkProviders, checkWebhooks } from '../doctor/billing.ts'
import {
  checkClock,
  checkConnections,
  checkDatabase,
  checkReplication,
} from '../doctor/database.ts'
import { type Finding, ok, problem, warning } from '../doctor/finding.ts'
import { checkKeys } from '../doctor/keys.ts'
import { checkAccountMail, checkMail, checkRegistration } from '../doctor/mail.ts'
import { checkMcp } from '../doctor/mcp.ts'
import { checkIssuer, checkProxies } from '../doctor/proxies.ts'
import { checkSignIn } from '../doctor/sign-in.ts'
import { checkStandards } from '../doctor/standards.ts'

export const doctorCommand = command({
  summary:
    'check configuration, database, clock, keys, standards, addresses, webhooks, providers and mail',
  async run(_input, context) {
    return report(await withProgress('Checking', () => examine(context)))
  },
})

async function examine(context: CommandContext): Promise<Finding[]> {
  let config: Config
  try {
    config = await withRunningAddress(await context.config(['secret', 'url', 'providers']))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map((message) => problem('configuration', message))
  }
  const configuration = [
    ok('configuration', `The configuration is complete; the mode is ${config.mode}`),
    ...config.warnings.map((text) => warning('configuration', text)),
  ]
  const { findings, database } = await checkDatabase(config)
  if (!database) return [...configuration, ...findings]
  try {
    return [...configuration, ...findings, ...(await examineService(config, database))]
  } catch (error) {
    // Each setting is valid, but their combination is not.
    if (!(error instanceof ConfigurationError)) throw error
    const fix = 'Change it in tollgate.config.ts, or in the environment.'
    return error.problems.map((message) => problem('configuration', message, fix))
  } finally {
    await database.close()
  }
}

/**
 * Takes the address of a running demo from its data folder, unless the environment sets
 * `TOLLGATE_URL` or `PORT`.
 */
async function withRunningAddress(config: Config): Promise<Config> {
  const { mode, given } = config
  if (mode !== 'demo' || given.has('TOLLGATE_URL') || given.has('PORT')) return config
  return { ...config, url: (await findRunningDemo(config.dataDir)) ?? config.url }
}

async function examineService(config: Config, database: ServiceDatabase): Promise<Finding[]> {
  const logger = createLogger('silent')
  const url = config.url ?? 'http://localhost'
  const shared = { config, database, logger, background: false }
  const core = createCore({ ...shared, url })
  const { oauth } = core
  const { providers, close } = await connectProviders(config)
  const smtp = await connectMailServer(config)
  const billing = createServiceBilling({ ...shared, providers, url, smtp: smtp ?? undefined })
  const gate = await createServiceGate({ settings: config.settings, database, logger })
  try {
    const issuer = await checkIssuer(config)
    const serviceAnswers = issuer.some(({ level }) => level === 'ok')
    return [
      ...(await checkConnections(config, database)),
      ...(await checkReplication(database)),
      ...(await checkClock(database)),
      ...(await checkKeys(core, database.clock.now(), config.given)),
      ...(await checkStandards(config, database)),
      ...(await checkMcp(config)),
      ...(await checkSignIn(config, database)),
      ...issuer,
      ...(serviceAnswers ? await checkProxies(config) : []),
      ...(await checkProviders(billing, providers)),
      ...(await checkPrices(providers, config)),
      ...(await checkWebhooks({ billing, providers, config, serviceAnswers })),
      ...(await checkDeliveries(billing, config)),
      ...(await checkMail(billing, config, smtp)),
      ...(await checkAccountMail(database)),
      ...checkRegistration(config),
    ]
  } finally {
    await oauth.close()
    await billing.close()
    await gate?.close()
    await close()
  }
}

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const

function report(findings: readonly Finding[]): CommandResult {
  const healthy = findings.every(({ level }) => level !== 'problem')
  const lines = findings.map(({ check, level, message, fix }) => {
    const line = `${MARKS[level]}  ${check.padEnd(14)} ${message}`
    return fix === null ? line : `${line}\n${' '.repeat(25)}→ ${fix}`
  })
  const verdict = healthy ? 'No problems found.' : 'Problems found: see PROBLEM above.'
  return {
    json: { healthy, findings },
    text: `${lines.join('\n')}\n\n${verdict}`,
    exitCode: healthy ? 0 : 1,
  }
}
