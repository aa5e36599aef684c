import { installFromNpm } from './npm.mjs'

/** Stripe's SDK for Node. */
export const stripeNode = {
  name: 'stripe-node',
  versions: ['17', '18', '19', '20', '21', '22', '23'],
  needs: ['npm'],
  install: (folder, version) => installFromNpm(folder, [`stripe@${version}`], programOf(version)),
  run: (_folder, version) => [process.execPath, programOf(version)],
}

function programOf(version) {
  return Number(version) < 18 ? 'before-basil.mjs' : 'shop.mjs'
}
