import { installFromNpm } from './npm.mjs'

/** Stripe's SDK for Node. */
export const stripeNode = {
  name: 'stripe-node',
  versions: ['18', '19', '20', '21', '22', '23'],
  needs: ['npm'],
  install: (folder, version) => installFromNpm(folder, [`stripe@${version}`], 'shop.mjs'),
  run: () => [process.execPath, 'shop.mjs'],
}
