import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../usage-error.ts'
import type { Framework } from '../framework.ts'
import type { Project } from '../project.ts'
import { express } from './express.ts'
import { fastify } from './fastify.ts'
import { hono } from './hono.ts'
import { next } from './next.ts'

/** Every framework by the name that `--framework` takes. */
export const FRAMEWORKS: Readonly<Record<string, Framework>> = { express, fastify, hono, next }

/**
 * Finds the framework of a project.
 * @throws UsageError if there is none or if there are several, and if its version is too old.
 */
export function findFramework(project: Project, frameworkName: string | null): Framework {
  const found = Object.values(FRAMEWORKS).filter(({ package: name }) => name in project.packages)
  const chosen =
    frameworkName === null ? found : found.filter((each) => each.package === frameworkName)
  const [framework, ...others] = chosen
  if (!framework) {
    const wanted = frameworkName === null ? 'Express, Fastify, Hono or Next' : frameworkName
    throw new UsageError(
      `${join(project.folder, 'package.json')} does not list ${wanted} in its dependencies. Run tollgate init in the folder of the application, after you have installed the framework.`,
    )
  }
  if (others.length > 0) {
    const names = chosen.map((each) => each.package)
    throw new UsageError(
      `package.json lists several frameworks: ${names.join(', ')}. Choose one with --framework ${names[0]}.`,
    )
  }
  assertVersion(project, framework)
  return framework
}

function assertVersion(project: Project, { name, package: own, major }: Framework): void {
  const version = installedVersion(project, own) ?? project.packages[own] ?? ''
  const found = /^[\^~>=v\s]*(\d+)/.exec(version)?.[1]
  if (found === undefined || Number(found) >= major) return
  throw new UsageError(
    `This project uses ${name} ${version}, and Tollgate needs ${name} ${major} or newer. Update it first: npm install ${own}@${major}`,
  )
}

/** Returns the version in node_modules. `null` if the package is not installed there. */
function installedVersion({ folder }: Project, name: string): string | null {
  try {
    const file = join(folder, 'node_modules', name, 'package.json')
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }
    return typeof version === 'string' ? version : null
  } catch {
    return null
  }
}
