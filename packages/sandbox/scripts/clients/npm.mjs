import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './processes.mjs'

/** Installs packages into a folder, beside a program of ours that uses them. */
export async function installFromNpm(folder, packages, program) {
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder })
  await copyFile(programPath(program), join(folder, program))
  await copyFile(programPath('steps.mjs'), join(folder, 'steps.mjs'))
}

export function programPath(name) {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url))
}
