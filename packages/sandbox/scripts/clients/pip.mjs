import { join } from 'node:path'
import { run } from './processes.mjs'

/** Creates a virtual environment in the folder. */
export async function installFromPip(folder, packages) {
  await run('python3', ['-m', 'venv', 'venv'], { cwd: folder })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  await run(pythonIn(folder), [...pip, ...packages], { cwd: folder })
}

export function pythonIn(folder) {
  return process.platform === 'win32'
    ? join(folder, 'venv', 'Scripts', 'python.exe')
    : join(folder, 'venv', 'bin', 'python')
}
