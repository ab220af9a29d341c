# Gives Redis the users of the roles, then asks whether it is ready: users that are set so are gone after a restart, and
# the Service leads to Redis only once it is ready. A password is in a variable if its Secret was there
# when this container started, and in a file soon after it is made. Until then Redis serves without that user, as it does
# if it refuses a rule: pods of the version before log in as its own user.
set -f
give() {
  password=$(cat "${USERS_FOLDER:-/etc/punctual/redis-users}/$1" 2>/dev/null)
  password=${password:-$2}
  [ -n "$password" ] || return 0
  # In no list of processes: Redis takes the hash as well.
  hash=$(printf %s "$password" | sha256sum | cut -c 1-64)
  redis-cli acl setuser "punctual-$1" reset on "#$hash" $3 >/dev/null 2>&1
}
give api "$API_PASSWORD" 'resetkeys ~punctual:{h?-??}:* ~punctual:{h??-??}:* ~punctual:{*}:session ~punctual:{*}:code ~punctual:{*}:absent ~punctual:meta ~punctual:used %R~punctual:teams %R~punctual:tokens %R~punctual:windows %R~punctual:secrets %R~punctual:own-addresses %R~punctual:namespaces resetchannels &punctual:wake -@all +@read +@write +@connection -@dangerous -scan -randomkey -dbsize -function +eval +evalsha +info +cluster|info +cluster|slots +publish +time (+hsetnx ~punctual:namespaces)'
give executor "$EXECUTOR_PASSWORD" 'resetkeys ~punctual:{h?-??}:* ~punctual:{h??-??}:* ~punctual:meta %R~punctual:teams %R~punctual:tokens %R~punctual:windows %R~punctual:secrets %R~punctual:own-addresses resetchannels &punctual:wake -@all +@read +@write +@connection -@dangerous -scan -randomkey -dbsize -function +eval +evalsha +info +cluster|info +cluster|slots +publish +time +subscribe +unsubscribe'
redis-cli -e ping
