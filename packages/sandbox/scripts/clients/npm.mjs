import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './processes.mjs'

/**
 * Installs packages into a folder, with our program that uses them and the modules it shares with
 * other programs.
 */
export async function installFromNpm(folder, packages, program) {
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder })
  for (const file of [program, 'steps.mjs', 'stripe-account.mjs']) {
    await copyFile(programPath(file), join(folder, file))
  }
}

export function programPath(name) {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url))
}
