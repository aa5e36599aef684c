import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { UsageError } from '../usage-error.ts'
import { assertWritable, type FileChangeWithMode, UndoSteps, writeChanges } from './changes.ts'
import {
  assertChoices,
  DEFAULT_CHOICES,
  getDatabaseName,
  INIT_BILLING_CHOICES,
  type InitChoices,
} from './choices.ts'
import { addIgnored, addSettings, type Settings } from './env-file.ts'
import { assertReachable, createFirstClient, type FirstClient } from './first-client.ts'
import type { Framework } from './framework.ts'
import { runExclusively } from './lock.ts'
import { installPackages, listPackages } from './packages.ts'
import { type PackageManager, type Project, readText } from './project.ts'

/** Options of `initProject()`. */
export interface InitOptions {
  readonly project: Project
  readonly framework: Framework
  readonly choices: InitChoices
  readonly manager: PackageManager
  /** Whether to install packages. */
  readonly install: boolean
  /** Version of Tollgate's packages to install. */
  readonly version: string
  /** Folder with our packages as `.tgz` files. `null` to install them from the registry. */
  readonly tarballs: string | null
}

/** Result of `initProject()`. */
export interface InitResult {
  /** Created files, by paths relative to the folder. */
  readonly created: readonly string[]
  /** Changed files, by paths relative to the folder. */
  readonly changed: readonly string[]
  readonly installed: readonly string[]
  /** Packages that are missing, because `install` is false. */
  readonly missing: readonly string[]
  /** The new client. `null` if the database had clients already. */
  readonly client: FirstClient | null
  /** The file that creates the authorization server. */
  readonly server: string
  /** Instructions for remaining edits by hand. `null` if none remain. */
  readonly byHand: string | null
  /** Base URL of the application. */
  readonly url: string
}

/**
 * Sets Tollgate up in a project: packages, source files, settings, tables and a first client.
 * Existing files and settings are kept. If a step fails, the earlier steps are undone, except
 * that downloaded packages stay in node_modules and tables on a database server.
 * @throws UsageError if the project cannot be set up.
 */
export function initProject(options: InitOptions): Promise<InitResult> {
  return runExclusively(options.project.folder, () => initAlone(options))
}

async function initAlone(options: InitOptions): Promise<InitResult> {
  const { project, framework, choices, manager, install, version, tarballs } = options
  const { folder } = project
  assertChoices(choices)
  const { changes: sources, server, byHand, port } = framework.plan(project, choices)
  const settings = chooseSettings(project, choices, port)
  const changes: FileChangeWithMode[] = [...sources, ...planSettings(project, settings, choices)]
  const wanted = listPackages(project, framework, choices, { version, tarballs })
  const packages = [...wanted.dependencies, ...wanted.devDependencies]
  const installs = install && packages.length > 0
  assertWritable(folder, changes)

  const undo = new UndoSteps()
  try {
    await assertReachable(folder, settings, undo)
    if (installs) await installPackages(project, manager, wanted, undo)
    writeChanges(folder, changes, undo)
    const client = await createFirstClient(folder, settings, undo)
    return {
      created: changes.filter(({ before }) => before === null).map(({ path }) => path),
      changed: changes.filter(({ before }) => before !== null).map(({ path }) => path),
      installed: installs ? packages : [],
      missing: install ? [] : packages,
      client,
      server,
      byHand,
      url: settings.TOLLGATE_URL ?? '',
    }
  } catch (error) {
    undo.run()
    throw error
  }
}

/**
 * Returns the settings that the application needs. Those of an existing `.env` are kept.
 * @throws UsageError if another database than that of `.env` was chosen.
 */
function chooseSettings({ settings }: Project, choices: InitChoices, port: number): Settings {
  const { DATABASE_URL: url } = settings
  if (url !== undefined && getDatabaseName(url) !== getDatabaseName(choices.database)) {
    throw new UsageError(
      `.env already has a DATABASE_URL, of ${getDatabaseName(url)} and not ${getDatabaseName(choices.database)}. Leave out --database to use it, or change the line in .env.`,
    )
  }
  return {
    DATABASE_URL: choices.database,
    TOLLGATE_URL: `http://localhost:${port}`,
    TOLLGATE_SECRET: randomBytes(32).toString('base64url'),
    ...INIT_BILLING_CHOICES[choices.billing].settings,
    ...settings,
  }
}

/** Plans the files `.env` and `.gitignore`. */
function planSettings(
  project: Project,
  settings: Settings,
  { database }: InitChoices,
): FileChangeWithMode[] {
  const env = readText(join(project.folder, '.env'))
  const ignored = readText(join(project.folder, '.gitignore'))
  const ignoring = ['.env', ...(database === DEFAULT_CHOICES.database ? ['tollgate.db*'] : [])]
  const missing = Object.entries(settings).filter(([name]) => !(name in project.settings))
  const after = addSettings(env ?? '', Object.fromEntries(missing))
  // Readable by its owner only, because it holds secrets.
  const secrets = { path: '.env', before: env, after, mode: 0o600 }
  const git = { path: '.gitignore', before: ignored, after: addIgnored(ignored ?? '', ignoring) }
  // Git must ignore the secrets before they are written.
  return [git, secrets].filter((change) => (change.before ?? '') !== change.after)
}

/** Whether the project was set up before: the generated file exists, so no questions are asked. */
export function isSetUp(project: Project, framework: Framework): boolean {
  const { changes, server } = framework.plan(project, DEFAULT_CHOICES)
  return changes.every(({ path }) => path !== server)
}
