import { installFromMaven, runJava } from './maven.mjs'

/** Stripe's SDK for Java, which parses every object into its own types. */
export const stripeJava = {
  name: 'stripe-java',
  versions: ['31.4.1', '32.2.0', '33.3.0'],
  needs: ['java', 'mvn'],
  install: (folder, version) => installFromMaven(folder, ['com.stripe', 'stripe-java', version]),
  run: (folder) => runJava(folder, 'shop.java'),
}
