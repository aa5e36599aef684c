import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../usage-error.ts'
import type { UndoSteps } from './changes.ts'
import {
  getDatabaseName,
  INIT_BILLING_CHOICES,
  INIT_DATABASES,
  type InitChoices,
} from './choices.ts'
import type { Framework } from './framework.ts'
import { PACKAGE_MANAGERS, type PackageManager, type Project } from './project.ts'

/** Packages to add to the project, as the package manager takes them. */
export interface PackagesToInstall {
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
}

/**
 * Lists the packages that the project lacks. `version` is that of our packages; `tarballs` is a
 * folder with our packages as `.tgz` files, which replaces the registry.
 * @throws UsageError if the folder lacks a package.
 */
export function listPackages(
  project: Project,
  framework: Framework,
  { database, billing }: InitChoices,
  { version, tarballs }: { readonly version: string; readonly tarballs: string | null },
): PackagesToInstall {
  const ours = ['oauth', 'database', ...(billing === 'none' ? [] : ['billing'])]
  const lacks = (name: string) => !(name in project.packages)
  const lacking = ours.some((name) => lacks(`@tollgate/${name}`))
  const own =
    tarballs === null
      ? ours
          .map((name) => `@tollgate/${name}`)
          .filter(lacks)
          .map((name) => `${name}@^${version}`)
      : lacking
        ? // Without a registry, our packages must find each other among the dependencies.
          [...ours, 'http'].map((name) => findTarball(tarballs, name))
        : []
  const others = [
    INIT_DATABASES[getDatabaseName(database)].driver,
    ...INIT_BILLING_CHOICES[billing].packages,
  ]
  const types = ['@types/node', ...framework.types]
  return {
    dependencies: [...own, ...others.filter(lacks)],
    devDependencies: project.typescript ? types.filter(lacks) : [],
  }
}

function findTarball(folder: string, name: string): string {
  const files = existsSync(folder) ? readdirSync(folder) : []
  const file = files.find((each) => new RegExp(`^tollgate-${name}-\\d.*\\.tgz$`).test(each))
  if (file !== undefined) return resolve(folder, file)
  throw new UsageError(
    `${resolve(folder)} contains no tollgate-${name}-<version>.tgz. In a clone of Tollgate, npm run pack writes one for each package.`,
  )
}

/**
 * Installs the packages. If that fails, restores package.json and the lock file; a later failure
 * can do so with `undo`.
 * @throws UsageError if the package manager is missing or fails.
 */
export async function installPackages(
  project: Project,
  manager: PackageManager,
  { dependencies, devDependencies }: PackagesToInstall,
  undo: UndoSteps,
): Promise<void> {
  keepManifests(project.folder, undo)
  for (const [packages, dev] of [
    [dependencies, false],
    [devDependencies, true],
  ] as const) {
    if (packages.length > 0) await run(project, manager, manager.install(packages, dev))
  }
}

/** Remembers package.json and the lock files, which the package manager changes. */
function keepManifests(folder: string, undo: UndoSteps): void {
  const names = ['package.json', ...PACKAGE_MANAGERS.flatMap(({ lockFiles }) => lockFiles)]
  for (const name of names) {
    const file = join(folder, name)
    const before = existsSync(file) ? readFileSync(file) : null
    undo.add(() => (before === null ? rmSync(file, { force: true }) : writeFileSync(file, before)))
  }
}

/** Runs the package manager. What it prints goes to standard error, and is part of no output. */
function run(project: Project, manager: PackageManager, args: readonly string[]): Promise<void> {
  const command = [manager.name, ...args].join(' ')
  const failed = (reason: string) =>
    new UsageError(
      `${command}\n\nfailed (${reason}), so nothing was changed. Is the network available? Run the command yourself, and then tollgate init again, or add --no-install.`,
    )
  return new Promise((resolvePromise, reject) => {
    const child = spawn(manager.name, args, {
      cwd: project.folder,
      stdio: ['ignore', process.stderr, process.stderr],
      // npm, pnpm and yarn are scripts on Windows, which only a shell can run.
      shell: process.platform === 'win32',
    })
    // Ctrl-C also stops the package manager, which is a failure like others: what was done so far
    // must be taken back.
    const stay = () => {}
    process.on('SIGINT', stay)
    const end = (reason: string | null) => {
      process.off('SIGINT', stay)
      if (reason === null) resolvePromise()
      else reject(failed(reason))
    }
    child.once('error', ({ message }) => end(message))
    child.once('close', (code, signal) => end(code === 0 ? null : (signal ?? `exit code ${code}`)))
  })
}
