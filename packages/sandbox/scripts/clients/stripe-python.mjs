import { programPath } from './npm.mjs'
import { installFromPip, pythonIn } from './pip.mjs'

/** Stripe's SDK for Python. */
export const stripePython = {
  name: 'stripe-python',
  versions: ['11', '12', '13', '14', '15', '16'],
  needs: ['python3'],
  install: (folder, version) => installFromPip(folder, [`stripe==${version}.*`]),
  run: (folder, version) => [
    pythonIn(folder),
    programPath(Number(version) < 12 ? 'before_basil.py' : 'shop.py'),
  ],
}
