/**
 * Takes the place of `mnemonist/lru-cache`. The SDK keeps discovered endpoints in it, which DynamoDB
 * does only where `AWS_ENABLE_ENDPOINT_DISCOVERY` is set, and then one an account.
 */
export default class UnboundedCache<Key, Value> extends Map<Key, Value> {
  constructor(_capacity: number) {
    super();
  }

  peek(key: Key): Value | undefined {
    return this.get(key);
  }
}
