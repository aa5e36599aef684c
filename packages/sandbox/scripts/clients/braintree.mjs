import { installFromMaven, runJava } from './maven.mjs'
import { programPath } from './npm.mjs'
import { installFromPip, pythonIn } from './pip.mjs'

/** Braintree's SDKs for Java and Python find a development gateway by GATEWAY_PORT. */
export const braintreeJava = {
  name: 'braintree-java',
  versions: ['3.52.0'],
  needs: ['java', 'mvn'],
  install: (folder, version) =>
    installFromMaven(folder, ['com.braintreepayments.gateway', 'braintree-java', version]),
  run: (folder) => runJava(folder, '../../braintree-java.java'),
}

export const braintreePython = {
  name: 'braintree-python',
  versions: ['4.48'],
  needs: ['python3'],
  install: (folder, version) => installFromPip(folder, [`braintree==${version}.*`]),
  run: (folder) => [pythonIn(folder), programPath('../../braintree-python.py')],
}
