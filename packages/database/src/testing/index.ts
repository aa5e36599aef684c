export {
  type ContractDatabase,
  type DialectContractRunner,
  dialectContract,
} from './dialect-contract.ts'
