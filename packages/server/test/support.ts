import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billingMigrations, ownerMigrations } from '@tollgate/billing'
import { type Database, migrate } from '@tollgate/database'
import { type Duration, movableClock } from '@tollgate/oauth/testing'
import { createTestDatabase, type Template } from '../../../test-support/create-test-database.ts'
import { insertSigningKeys } from '../../../test-support/signing-keys.ts'
import type { Config } from '../src/config/config.ts'
import { readEnvironment } from '../src/config/environment.ts'
import { parseSettings, type SettingsInput } from '../src/config/settings.ts'
import { migrateCore } from '../src/core.ts'
import { enabledFeatures } from '../src/features.ts'
import { type ServiceOptions, type StartedService, startService } from '../src/service.ts'
import { createBrowser } from './browser.ts'

export interface TestService extends StartedService {
  /** The clock of sessions, tokens and limits. */
  readonly clock: ReturnType<typeof movableClock>
  readonly databaseUrl: string
  readonly dataDir: string
  /** Returns a new browser with its own cookies. */
  browser(): ReturnType<typeof createBrowser>
  /** Advances the sandbox's clock and handles all webhooks on the way. */
  advance(by: Duration): Promise<void>
  /** Returns everything that was logged. */
  log(): string
  stop(): Promise<void>
}

export interface TestConfigOptions {
  readonly environment?: Record<string, string>
  readonly settings?: SettingsInput
}

const users = { table: 'users', id: 'id', idType: 'integer', email: 'email', name: 'name' } as const

/** A template with every table of the service. */
export const serviceTables: Template = {
  name: 'service',
  async fill(database) {
    await migrateCore(database)
    await migrate(database, billingMigrations({ ...users, otherOwners: true }))
    await migrate(database, ownerMigrations('team', { table: 'teams' }))
  },
}

const DEMO_SECRET = 'Zk3uQm8vTe1xLr6yWc9oBd2fHn5jPs7a'

/** Configuration of a demo on a free port, with its own folder and database. */
export async function testConfig(
  overrides: TestConfigOptions = {},
): Promise<{ config: Config; database: Database; databaseUrl: string; remove(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-service-'))
  // The secret of a former demo, with which its keys are encrypted.
  writeFileSync(join(dataDir, 'secret'), DEMO_SECRET, { mode: 0o600 })
  const { url, database, drop } = await createTestDatabase({ template: serviceTables })
  const config = readEnvironment(
    { PORT: '0', DATABASE_URL: url, TOLLGATE_DATA_DIR: dataDir, ...overrides.environment },
    { settings: parseSettings(overrides.settings ?? {}), needs: ['secret', 'url', 'providers'] },
  )
  return {
    config,
    database,
    databaseUrl: url,
    async remove() {
      await drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export interface TestServiceOptions extends TestConfigOptions {
  readonly config?: Partial<Config>
  readonly options?: ServiceOptions
}

/** Starts the whole service on its own database and a free port, with clocks that stand still. */
export async function startTestService(overrides: TestServiceOptions = {}): Promise<TestService> {
  const { config: given, database, databaseUrl, remove } = await testConfig(overrides)
  const config: Config = { ...given, logLevel: 'info', ...overrides.config }
  const clock = movableClock()
  const now = (overrides.options?.clock ?? clock).now()
  const { signingAlgorithm } = config.settings
  const features = enabledFeatures(config)
  await insertSigningKeys(database, {
    secret: config.secrets[0] ?? '',
    now,
    signingAlgorithm,
    features,
  })
  const lines: string[] = []
  const service = await startService(config, {
    clock,
    ticking: false,
    keepDemo: false,
    mailbox: false,
    passwords: { cost: { memoryCost: 8, timeCost: 1, parallelism: 1 } },
    logTo: { write: (line) => void lines.push(line) },
    ...overrides.options,
  })
  return {
    ...service,
    clock,
    databaseUrl,
    dataDir: config.dataDir,
    browser: () => createBrowser(service.url),
    async advance(by) {
      await service.sandbox?.clock.advance(by)
      await service.sandbox?.outbox.flush()
      await service.billing.process()
    },
    log: () => lines.join(''),
    async stop() {
      await service.close(0)
      await remove()
    },
  }
}
